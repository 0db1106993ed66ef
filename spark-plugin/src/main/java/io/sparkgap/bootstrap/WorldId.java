package io.sparkgap.bootstrap;

import java.util.Arrays;

/** What PE 0 of a world publishes and every PE connects with: the provider's bytes, not ours. */
public final class WorldId {
  /** Where there is nothing to connect with: not published yet, or not needed. */
  public static final WorldId NONE = new WorldId(new byte[0]);

  private final byte[] bytes;

  public WorldId(byte[] bytes) {
    this.bytes = bytes.clone();
  }

  public byte[] bytes() {
    return bytes.clone();
  }

  int length() {
    return bytes.length;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WorldId id && Arrays.equals(bytes, id.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** Holds the world's key: not for logs. */
  @Override
  public String toString() {
    return bytes.length + " bytes";
  }
}
