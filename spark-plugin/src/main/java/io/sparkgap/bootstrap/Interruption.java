package io.sparkgap.bootstrap;

/**
 * Lets an {@link InterruptedException} through signatures that do not name it, as Spark's own calls
 * do: whoever interrupts a thread, a stopped streaming query say, looks for that very class.
 */
public final class Interruption {
  private Interruption() {}

  /** Throws it. To be written as {@code throw Interruption.passOn(e)}. */
  public static RuntimeException passOn(InterruptedException interruption) {
    throw Interruption.<RuntimeException>unchecked(interruption);
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // that is the trick
  private static <E extends Throwable> E unchecked(Throwable error) throws E {
    throw (E) error;
  }
}
