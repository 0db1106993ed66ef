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
   * What the owner is between two calls: nobody, or the thread that records a step, as {@link
   * #recorder}. Of the thread that is inside.
   */
  private long rest = NOBODY;

  /**
   * Ordinal of the {@link Call} that the owner is in. A second thread may read it a little late.
   */
  private int call;

  Confinement(String where) {
    this.where = where;
  }

  void enter(Call entered) {
    if (!OWNER.compareAndSet(this, NOBODY, Thread.currentThread().getId())) {
      enterRecording(entered);
    }
    call = entered.ordinal();
  }

  void exit() {
    OWNER.setRelease(this, rest);
  }

  private void enterRecording(Call entered) {
    long id = Thread.currentThread().getId();
    if (isRecordingHere() && entered.instead != null) {
      throw notInStep(entered.text, entered.instead);
    }
    if (!OWNER.compareAndSet(this, recorder(id), id)) {
      throw refusal(entered);
    }
  }

  /** By the thread that is inside: from its exit on, only this thread enters. */
  void beginRecording() {
    rest = recorder(Thread.currentThread().getId());
  }

  /** By the thread that records: enters, and leaves the way free for all when it exits. */
  void enterToEndRecording() {
    long id = Thread.currentThread().getId();
    if (!OWNER.compareAndSet(this, recorder(id), id)) {
      throw refusal(Call.RECORD);
    }
    call = Call.RECORD.ordinal();
    rest = NOBODY;
  }

  /** Whether a step is being recorded, asked by the thread that is inside. */
  boolean isRecording() {
    return rest != NOBODY;
  }

  /** Whether this thread records a step and is in none of its calls. */
  boolean isRecordingHere() {
    return owner == recorder(Thread.currentThread().getId());
  }

  IllegalStateException notInStep(String what, String instead) {
    return new IllegalStateException(
        what
            + " on "
            + where
            + ": it cannot be part of the step that is being recorded. "
            + instead);
  }

  /** Less than {@link #CLOSED}. */
  private static long recorder(long id) {
    return CLOSED - id;
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
    return inside(owner);
  }

  private String inside(long id) {
    return id < CLOSED
        ? "thread \"" + name(CLOSED - id) + "\" is recording a step"
        : "thread \"" + name(id) + "\" is in " + Call.text(call);
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
            + "\", while "
            + inside(id)
            + ". A communicator and its buffers serve one thread at a time: make all calls from one"
            + " thread, or hand over when a call has returned.");
  }

  private static String name(long id) {
    // Nobody any more, if the thread has left meanwhile.
    ThreadInfo info = id > 0 ? ManagementFactory.getThreadMXBean().getThreadInfo(id) : null;
    return info == null ? "#" + id : info.getThreadName();
  }
}
