package io.sparkgap.api;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets one thread at a time into a communicator and tells a second one so at once. The owner is
 * kept as a thread's id: storing a number needs none of the garbage collector's barriers, so that
 * entering costs one compare-and-set and leaving one plain store.
 */
@SuppressWarnings("EnumOrdinal") // kept for as long as a call takes, for the reason just given
final class Confinement {
  private static final VarHandle OWNER;
  private static final long NOBODY = 0;
  private static final long CLOSED = -1;

  static {
    try {
      OWNER = MethodHandles.lookup().findVarHandle(Confinement.class, "owner", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String where;

  @SuppressWarnings("unused") // by OWNER
  private volatile long owner = NOBODY;

  /**
   * Ordinal of the {@link Call} that the owner is in. A second thread may read it a little late.
   */
  private int call;

  Confinement(String where) {
    this.where = where;
  }

  void enter(Call entered) {
    if (!OWNER.compareAndSet(this, NOBODY, Thread.currentThread().getId())) {
      throw refusal(entered);
    }
    call = entered.ordinal();
  }

  void exit() {
    OWNER.setRelease(this, NOBODY);
  }

  /** Enters as soon as the thread that is inside leaves; false if it does not within the time. */
  boolean enterWithin(Call entered, long nanos) {
    long deadline = System.nanoTime() + nanos;
    while (!OWNER.compareAndSet(this, NOBODY, Thread.currentThread().getId())) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
    }
    call = entered.ordinal();
    return true;
  }

  /** By the thread that is inside: nobody enters from now on. */
  void exitForGood() {
    OWNER.setRelease(this, CLOSED);
  }

  /** Who is inside and in what, for example {@code thread "main" is in allReduce}. */
  String inside() {
    long id = owner;
    return "thread \"" + name(id) + "\" is in " + Call.text(call);
  }

  private RuntimeException refusal(Call wanted) {
    long id = owner;
    if (id == CLOSED) {
      return new IllegalStateException(
          wanted.text
              + " on "
              + where
              + ": the communicator is closed. Make the call before close(), that is, before the"
              + " task that joined ends.");
    }
    return new ConcurrentModificationException(
        wanted.text
            + " on "
            + where
            + " by thread \""
            + Thread.currentThread().getName()
            + "\", while thread \""
            + name(id)
            + "\" is in "
            + Call.text(call)
            + ". A communicator and its buffers serve one thread at a time: make all calls from one"
            + " thread, or hand over when a call has returned.");
  }

  private static String name(long id) {
    // Nobody any more, if the thread has left meanwhile.
    ThreadInfo info = id > 0 ? ManagementFactory.getThreadMXBean().getThreadInfo(id) : null;
    return info == null ? "#" + id : info.getThreadName();
  }
}
