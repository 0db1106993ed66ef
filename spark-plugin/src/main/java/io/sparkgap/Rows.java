package io.sparkgap;

import io.sparkgap.api.SymmetricBuffer;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import scala.Function1;

/**
 * The rows of one PE's partition of a Dataset, to be taken once: one by one as Spark's {@link Row},
 * or all that are left as numbers.
 *
 * <p><b>Numbers.</b> {@code floats} and {@code doubles} read columns where Spark has them, without
 * a {@code Row} and without an object for each value. A column is numeric, boolean (0 and 1), an
 * array of such, or a {@code Vector} of Spark ML; arrays and vectors have the same length in every
 * row. What comes is row-major: the values of the first row, in the order of the columns' names,
 * then those of the second. A null, a length that differs and a column of another type are an
 * {@link IllegalArgumentException} that names the column.
 *
 * <p>Not for several threads at once.
 */
public final class Rows implements Iterator<Row> {
  /** Values that are gathered before they go into a buffer. */
  private static final int CHUNK = 1 << 13;

  private final StructType schema;
  private final Iterator<InternalRow> rows;
  private Function1<Object, Object> toRow;

  Rows(StructType schema, Iterator<InternalRow> rows) {
    this.schema = schema;
    this.rows = rows;
  }

  /** Names and types of the columns. */
  public StructType schema() {
    return schema;
  }

  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  @Override
  public Row next() {
    // Spark's generated iterators have a row only for who has asked whether there is one.
    if (!rows.hasNext()) {
      throw new NoSuchElementException("no row is left");
    }
    if (toRow == null) {
      toRow = CatalystTypeConverters.createToScalaConverter(schema);
    }
    return (Row) toRow.apply(rows.next());
  }

  /**
   * All rows that are left.
   *
   * @param columns names, one at least
   * @return the values, row-major
   * @throws IllegalArgumentException as the class says, and if there are more than an array holds
   */
  public double[] doubles(String... columns) {
    NumericColumns from = new NumericColumns(schema, columns);
    double[] values = new double[CHUNK];
    int count = 0;
    while (rows.hasNext()) {
      int width = from.next(rows.next());
      values = count + width > values.length ? Arrays.copyOf(values, grown(count, width)) : values;
      System.arraycopy(from.values(), 0, values, count, width);
      count += width;
    }
    return Arrays.copyOf(values, count);
  }

  /** As {@link #doubles(String...)}, each value rounded to a float. */
  public float[] floats(String... columns) {
    NumericColumns from = new NumericColumns(schema, columns);
    float[] values = new float[CHUNK];
    int count = 0;
    while (rows.hasNext()) {
      int width = from.next(rows.next());
      values = count + width > values.length ? Arrays.copyOf(values, grown(count, width)) : values;
      round(from.values(), values, count, width);
      count += width;
    }
    return Arrays.copyOf(values, count);
  }

  /**
   * Puts all rows that are left into this PE's part of a buffer, from its start on.
   *
   * @param buffer of doubles
   * @param columns names, one at least
   * @return number of values, row-major
   * @throws IllegalArgumentException as the class says, and if the buffer is too small
   */
  public long doubles(SymmetricBuffer buffer, String... columns) {
    NumericColumns from = new NumericColumns(schema, columns);
    double[] chunk = new double[CHUNK];
    int held = 0;
    long done = 0;
    while (rows.hasNext()) {
      int width = from.next(rows.next());
      if (held + width > chunk.length) {
        buffer.write(done * Double.BYTES, chunk, 0, held);
        done += held;
        held = 0;
        chunk = width > chunk.length ? new double[width] : chunk;
      }
      System.arraycopy(from.values(), 0, chunk, held, width);
      held += width;
    }
    buffer.write(done * Double.BYTES, chunk, 0, held);
    return done + held;
  }

  /** As {@link #doubles(SymmetricBuffer, String...)} in a buffer of floats. */
  public long floats(SymmetricBuffer buffer, String... columns) {
    NumericColumns from = new NumericColumns(schema, columns);
    float[] chunk = new float[CHUNK];
    int held = 0;
    long done = 0;
    while (rows.hasNext()) {
      int width = from.next(rows.next());
      if (held + width > chunk.length) {
        buffer.write(done * Float.BYTES, chunk, 0, held);
        done += held;
        held = 0;
        chunk = width > chunk.length ? new float[width] : chunk;
      }
      round(from.values(), chunk, held, width);
      held += width;
    }
    buffer.write(done * Float.BYTES, chunk, 0, held);
    return done + held;
  }

  private static void round(double[] values, float[] to, int at, int count) {
    for (int i = 0; i < count; i++) {
      to[at + i] = (float) values[i];
    }
  }

  private static int grown(int count, int width) {
    long needed = (long) count + width;
    if (needed > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException(
          "The rows of this PE have more than "
              + count
              + " values, which no Java array holds: take them into a SymmetricBuffer, or use more PEs");
    }
    return (int) Math.min(Math.max(2L * count, needed), Integer.MAX_VALUE - 8);
  }
}
