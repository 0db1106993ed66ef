package io.sparkgap.bench;

import io.sparkgap.api.Buffer;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.ForeignBuffer;
import io.sparkgap.api.SymmetricBuffer;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** One array of a measured call, in symmetric or in private memory. */
final class Side implements AutoCloseable {
  private static final byte POISON = 0x55;

  /** Null if the memory is private. */
  private final SymmetricBuffer symmetric;

  /** Null if the memory is symmetric. */
  private final ByteBuffer own;

  private final Buffer buffer;

  private Side(SymmetricBuffer symmetric, ByteBuffer own) {
    this.symmetric = symmetric;
    this.own = own;
    this.buffer = symmetric != null ? symmetric : ForeignBuffer.of(own);
  }

  /** Collective if the memory is symmetric. */
  static Side allocate(Communicator communicator, Memory memory, long bytes) {
    if (memory == Memory.SYMMETRIC) {
      return new Side(communicator.allocate(bytes), null);
    }
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "an array in private memory has at most 2 GiB, and "
              + bytes
              + " bytes are asked for: measure up to a smaller size (--to), or in symmetric memory");
    }
    return new Side(null, ByteBuffer.allocateDirect((int) bytes));
  }

  Buffer buffer() {
    return buffer;
  }

  /** What one-sided calls reach. */
  SymmetricBuffer symmetric() {
    return symmetric;
  }

  /** Writes a piece over and over into some bytes. */
  void fill(long from, long bytes, byte[] piece) {
    for (long at = 0; at < bytes; at += piece.length) {
      int length = (int) Math.min(piece.length, bytes - at);
      if (symmetric != null) {
        symmetric.write(from + at, piece, 0, length);
      } else {
        own.put((int) (from + at), piece, 0, length);
      }
    }
  }

  /** So that what is not written is seen. */
  void poison(long bytes, int pieceBytes) {
    byte[] piece = new byte[pieceBytes];
    Arrays.fill(piece, POISON);
    fill(0, bytes, piece);
  }

  /** How many elements of some bytes are not the piece's, over again. */
  long wrong(Pattern pattern, long from, long bytes, byte[] piece) {
    byte[] found = new byte[(int) Math.min(piece.length, bytes)];
    long wrong = 0;
    for (long at = 0; at < bytes; at += piece.length) {
      int length = (int) Math.min(piece.length, bytes - at);
      if (symmetric != null) {
        symmetric.read(from + at, found, 0, length);
      } else {
        own.get((int) (from + at), found, 0, length);
      }
      wrong += pattern.wrong(piece, found, length);
    }
    return wrong;
  }

  @Override
  public void close() {
    if (symmetric != null) {
      symmetric.close();
    }
  }
}
