package io.sparkgap.bootstrap;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;

/**
 * What every PE of a world connects with: the id that PE 0 publishes, or, over several nodes, the
 * cards that all publish, in PE order. The library's bytes, not ours.
 */
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

  /** Those that have been published, one behind the other. */
  public static WorldId ofCards(List<WorldId> cards) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    cards.forEach(card -> all.writeBytes(card.bytes));
    return new WorldId(all.toByteArray());
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
