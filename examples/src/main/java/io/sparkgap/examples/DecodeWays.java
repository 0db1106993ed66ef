package io.sparkgap.examples;

import java.util.List;

/** The ways in which one PE of {@link DecodeStep} can go through its layers, at one width. */
interface DecodeWays extends AutoCloseable {
  /**
   * One of them. What it runs goes on from where the state is; the result is the same bits for all
   * ways of ours.
   *
   * @param ours whether the sums are Sparkgap's, and not NCCL's
   * @param run all layers, enqueued or done
   * @param withoutExchange the same without a sum over PEs: what the products alone take
   */
  record Way(String name, boolean ours, Runnable run, Runnable withoutExchange) {}

  /** The same on all PEs, which use them in this order. */
  List<Way> ways();

  /** Sets the state that the first layer begins with. */
  void reset();

  /** What the last layer came to. */
  float[] state();

  /** What kept ways from being here, as a sentence; empty if nothing did. */
  String missing();

  @Override
  void close();
}
