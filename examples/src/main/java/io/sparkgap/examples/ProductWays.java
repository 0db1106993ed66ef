package io.sparkgap.examples;

import io.sparkgap.api.Collective;
import java.util.List;

/** The ways in which one PE of {@link FusedProduct} can come to a sum of products, of one shape. */
interface ProductWays extends AutoCloseable {
  /**
   * One of them. What comes out is the same bits in every run.
   *
   * @param ours whether the exchange is Sparkgap's
   * @param slices of each PE's rows that are exchanged as they are finished; 0 where the whole
   *     product is finished first
   */
  record Way(String name, boolean ours, int slices, Runnable run) {}

  /** This PE's product by itself, without the sum. */
  Way product();

  /**
   * The same on all PEs. First the product and then our call, then the ways in slices, then those
   * of others.
   *
   * @param sum {@code REDUCE_SCATTER} or {@code ALL_REDUCE}
   */
  List<Way> ways(Collective sum);

  /** Forgets what came out. */
  void clear();

  /** Of all that came out on this PE. */
  long checksum(Collective sum);

  /** Element {@code number} of what came out on this PE. */
  float element(long number);

  /** What kept ways from being here, as a sentence; empty if nothing did. */
  String missing();

  @Override
  void close();
}
