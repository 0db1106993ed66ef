package io.sparkgap.bootstrap;

import java.util.List;

/**
 * What executors and the driver tell each other. Executors speak, the driver answers at once and
 * never waits: who has to wait polls.
 */
public sealed interface Message {

  /** Executor to driver, and answered. */
  sealed interface Request extends Message {}

  /** Executor to driver, and not answered. */
  sealed interface Notice extends Message {}

  /** Driver to executor. */
  sealed interface Answer extends Message {}

  /**
   * A task wants to be a PE.
   *
   * @param tasks how many tasks its stage has
   * @param reach how others reach its executor
   * @param offers what its executor says of each provider that the application allows, best first
   * @param idleEpochs the worlds that its executor holds, healthy and unused
   */
  record Register(
      StageAttempt stage,
      int tasks,
      Member member,
      Reach reach,
      List<Offer> offers,
      List<Long> idleEpochs)
      implements Request {}

  /** Is there an assignment for the task of this partition? */
  record Poll(StageAttempt stage, int partition) implements Request {}

  /** PE 0 has made the world, and this is its id; over several nodes, each PE tells its card. */
  record Publish(StageAttempt stage, int partition, WorldId worldId) implements Request {}

  /** The PE of this partition can call. Told again with each {@link Watch}. */
  record Ready(StageAttempt stage, int partition) implements Notice {}

  /**
   * The PE of this partition calls no more.
   *
   * @param reusable whether its executor keeps its end of the world
   * @param calls how many collective calls it has made in this world
   * @param history a digest of those calls; all PEs make the same
   * @param failure why it gave up; empty if it did not
   */
  record Leave(
      StageAttempt stage, int partition, boolean reusable, long calls, long history, String failure)
      implements Request {}

  /**
   * Are the worlds of these stages, which tasks of this executor are in, still good?
   *
   * @param calls how many collective calls the furthest PE of each has made in its world
   * @param ready those of the tasks that can call: a notice may be lost, this is asked again
   * @param idleEpochs unused worlds of this executor that only the driver may give up
   */
  record Watch(
      String executorId,
      List<StageAttempt> stages,
      List<Long> calls,
      List<Ready> ready,
      List<Long> idleEpochs)
      implements Request {
    public Watch {
      if (calls.size() != stages.size()) {
        throw new IllegalArgumentException(
            stages.size() + " stages, but " + calls.size() + " numbers of calls");
      }
    }

    /** Of an executor that no task is in a world of. */
    Watch(String executorId, List<Long> idleEpochs) {
      this(executorId, List.of(), List.of(), List.of(), idleEpochs);
    }
  }

  /**
   * What the calls of the PE of this partition have cost in its stage so far.
   *
   * @param over whether it has left its world
   */
  record Counted(StageAttempt stage, int partition, boolean over, List<CallCount> counts)
      implements Notice {}

  /**
   * PE 0 tells how the PEs of its world are linked, where that is not all by one memory.
   *
   * @param links of each PE a letter for each, the first of its {@link io.sparkgap.api.Link}
   */
  record Linked(StageAttempt stage, List<String> links) implements Notice {}

  /** A line of progress for the application's listeners. */
  record Report(int pe, String line) implements Notice {}

  /** Sparkgap is ready on this executor: it has loaded what it needs, and rehearsed a world. */
  record ExecutorReady(String executorId, String host) implements Notice {}

  /** Sparkgap cannot work on this executor. */
  record ExecutorFailure(String executorId, String host, String reason) implements Notice {}

  /** This executor ends its process, for it can be in no GPU world any more. */
  record ExecutorReplaced(String executorId, String host, String reason) implements Notice {}

  /** Not yet: poll again after so many microseconds. */
  record Wait(long pollAfterMicros) implements Answer {}

  /**
   * The world of a stage attempt.
   *
   * @param epoch the world's number in this application
   * @param provider who bootstraps it
   * @param reason what was found of the provider, and why no better one was taken
   * @param pe the number of the PE that this goes to
   * @param members the members of the world, in PE order
   * @param worldId what to connect with; empty for who is to publish something first (PE 0 of a new
   *     world, every PE of one over several nodes), and for a world that is reused
   * @param retired epochs that the executor offered and that no stage will use again
   */
  record Assignment(
      Decision decision,
      long epoch,
      String provider,
      String reason,
      int pe,
      List<Member> members,
      WorldId worldId,
      List<Long> retired)
      implements Answer {}

  /** There is no world for this task, nor will there be. */
  record Refused(String reason) implements Answer {}

  /**
   * The answer to a {@link Watch}.
   *
   * @param reasons for each stage: empty if its world is good, else why it is not
   * @param lost for each stage: whether its world has lost a PE's process
   * @param retired those of the idle epochs that no stage will use again
   */
  record Verdicts(
      long pollAfterMicros, List<String> reasons, List<Boolean> lost, List<Long> retired)
      implements Answer {}

  record Acknowledged() implements Answer {}
}
