package io.sparkgap.bench;

import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * What PEs give to a measured call, and what must come of it. Element i of block b of PE p is a
 * small whole number that repeats every {@value #PERIOD} elements, so that every type holds sums
 * exactly and whole pieces can be compared at once.
 */
final class Pattern {
  private static final int PERIOD = 7;

  /** Elements of a piece. */
  private static final int PIECE = PERIOD * 4096;

  private final DataType type;
  private final ReduceOp op;
  private final int pes;

  /**
   * @param op null if the call does not reduce
   */
  Pattern(DataType type, ReduceOp op, int pes) {
    this.type = type;
    this.op = op;
    this.pes = pes;
  }

  int pieceBytes() {
    return PIECE * type.bytes();
  }

  /** The piece that a block of a PE consists of, over again. */
  byte[] given(int pe, int block) {
    return piece(element -> value(pe, block, element));
  }

  /** The piece that the reduction of a block of all PEs consists of. */
  byte[] reduced(int block) {
    return piece(element -> reduced(block, element));
  }

  /** How many elements of the first {@code bytes} are not the expected ones. */
  long wrong(byte[] expected, byte[] found, int bytes) {
    if (Arrays.equals(expected, 0, bytes, found, 0, bytes)) {
      return 0;
    }
    long wrong = 0;
    for (int at = 0; at < bytes; at += type.bytes()) {
      // Neighbouring floating point numbers have neighbouring bits.
      if (Math.abs(bits(expected, at) - bits(found, at)) > tolerance()) {
        wrong++;
      }
    }
    return wrong;
  }

  /** Libraries may round a sum of half precision, or a quotient, more than once. */
  private int tolerance() {
    boolean half = type == DataType.FLOAT16 || type == DataType.BFLOAT16;
    boolean floating = half || type == DataType.FLOAT32 || type == DataType.FLOAT64;
    return op != null && (half || (floating && op == ReduceOp.AVG)) ? 1 : 0;
  }

  private int value(int pe, int block, int element) {
    int number = (pe + 3 * block + element) % PERIOD;
    return op == ReduceOp.PROD ? (number == 0 ? 2 : 1) : number;
  }

  private double reduced(int block, int element) {
    double all = value(0, block, element);
    for (int pe = 1; pe < pes; pe++) {
      int next = value(pe, block, element);
      all =
          switch (op) {
            case SUM, AVG -> all + next;
            case PROD -> all * next;
            case MIN -> Math.min(all, next);
            case MAX -> Math.max(all, next);
          };
    }
    return op == ReduceOp.AVG ? all / pes : all;
  }

  private interface Element {
    double at(int element);
  }

  private byte[] piece(Element element) {
    ByteBuffer one = ByteBuffer.allocate(PERIOD * type.bytes()).order(ByteOrder.nativeOrder());
    for (int i = 0; i < PERIOD; i++) {
      put(one, element.at(i));
    }
    byte[] piece = new byte[pieceBytes()];
    for (int at = 0; at < piece.length; at += one.capacity()) {
      System.arraycopy(one.array(), 0, piece, at, one.capacity());
    }
    return piece;
  }

  private void put(ByteBuffer to, double value) {
    switch (type) {
      case FLOAT32 -> to.putFloat((float) value);
      case FLOAT64 -> to.putDouble(value);
      case FLOAT16 -> to.putShort(float16(value));
      case BFLOAT16 ->
          to.putShort((short) roundedShift(Float.floatToRawIntBits((float) value), 16));
      case INT8, UINT8 -> to.put((byte) (long) value);
      case INT32 -> to.putInt((int) (long) value);
      case INT64 -> to.putLong((long) value);
    }
  }

  /** Of what is 0, or at least 2^-14: all that there is here. */
  private static short float16(double value) {
    if (value == 0) {
      return 0;
    }
    int bits = Float.floatToRawIntBits((float) value) - ((127 - 15) << 23);
    return (short) Math.min(roundedShift(bits, 13), 0x7c00);
  }

  /** To the nearest, or the even one of two. */
  private static int roundedShift(int bits, int by) {
    int half = 1 << (by - 1);
    return (bits + half - 1 + ((bits >>> by) & 1)) >>> by;
  }

  private long bits(byte[] bytes, int at) {
    long bits = 0;
    for (int i = type.bytes() - 1; i >= 0; i--) {
      bits = bits << Byte.SIZE | (bytes[at + i] & 0xff);
    }
    return bits;
  }
}
