package io.sparkgap.api;

/**
 * The way that a collective takes.
 *
 * @param provider who owns the memory and the world, for example {@code host}
 * @param algorithm for example {@code one-shot}; what {@link Communicator#holdTo} takes
 */
public record Route(String provider, String algorithm) {
  /** From {@code provider/algorithm}, as the native library writes it. */
  static Route parse(String text) {
    int slash = text.indexOf('/');
    return new Route(text.substring(0, slash), text.substring(slash + 1));
  }

  /** For example {@code host/one-shot}. */
  @Override
  public String toString() {
    return provider + "/" + algorithm;
  }
}
