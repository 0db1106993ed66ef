package io.sparkgap.bootstrap;

import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Wait;
import io.sparkgap.jni.SparkgapNative;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** One stage attempt on its way to a world and in it, on the driver. Not thread-safe. */
final class Gathering {
  /** From first to last; a failure may come at any point. */
  enum Phase {
    GATHERING,
    PUBLISHING,
    CONNECTING,
    RUNNING,
    ENDED,
    FAILED
  }

  /** Answers to polls come at least and at most so often, in microseconds. */
  private static final long LEAST_POLL_MICROS = 1_000;

  private static final long MOST_POLL_MICROS = 50_000;
  private static final long POLL_MICROS_PER_PE = 250;

  private final StageAttempt stage;
  private final int tasks;
  private final TreeMap<Integer, Register> registered = new TreeMap<>();
  private final BitSet ready = new BitSet();
  private final BitSet left = new BitSet();
  private final long firstArrivalNanos;

  private Phase phase = Phase.GATHERING;
  private long decidedNanos;
  private final TreeMap<Integer, Long> callsOfPes = new TreeMap<>();
  private final Set<Long> histories = new HashSet<>();
  private long mostCalls;
  private boolean kept = true;
  private String failure = "";
  private World world;
  private Decision decision;
  private String reason = "";
  private boolean lost;
  private final Map<Integer, WorldId> published = new TreeMap<>();
  private WorldId worldId = WorldId.NONE;
  private int[] peOfPartition;
  private List<String> links = List.of();

  Gathering(StageAttempt stage, int tasks, long nowNanos) {
    this.stage = stage;
    this.tasks = tasks;
    this.firstArrivalNanos = nowNanos;
  }

  static long pollMicros(int pollers) {
    return Math.max(LEAST_POLL_MICROS, Math.min(MOST_POLL_MICROS, pollers * POLL_MICROS_PER_PE));
  }

  StageAttempt stage() {
    return stage;
  }

  int tasks() {
    return tasks;
  }

  Phase phase() {
    return phase;
  }

  boolean isLive() {
    return phase != Phase.ENDED && phase != Phase.FAILED;
  }

  String failure() {
    return failure;
  }

  World world() {
    return world;
  }

  Decision decision() {
    return decision;
  }

  /** Whether a PE's process has ended before its task. */
  boolean isLost() {
    return lost;
  }

  boolean has(int partition) {
    return registered.containsKey(partition);
  }

  void add(Register register) {
    registered.put(register.member().partition(), register);
  }

  boolean isComplete() {
    return registered.size() == tasks;
  }

  long firstArrivalNanos() {
    return firstArrivalNanos;
  }

  long decidedNanos() {
    return decidedNanos;
  }

  List<Member> membersInPeOrder() {
    return Member.inPeOrder(members());
  }

  Set<String> executors() {
    return members().stream()
        .map(Member::executorId)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  boolean everybodyHolds(long epoch) {
    return registered.values().stream().allMatch(each -> each.idleEpochs().contains(epoch));
  }

  /** Whether they are on several nodes. */
  boolean isSpread() {
    return members().stream().map(Member::node).distinct().count() > 1;
  }

  /** What they have in common, or why nothing. */
  ProviderChoice chooseProvider(boolean deviceShared) {
    return ProviderChoice.of(stage, List.copyOf(registered.values()), deviceShared);
  }

  /**
   * All have joined, and this is their world.
   *
   * @param reason why it has the provider that it has
   */
  void decide(Decision decision, World world, String reason, long nowNanos) {
    this.decision = decision;
    this.world = world;
    this.reason = reason;
    decidedNanos = nowNanos;
    peOfPartition = new int[tasks];
    for (int pe = 0; pe < tasks; pe++) {
      peOfPartition[world.members().get(pe).partition()] = pe;
    }
    phase = decision == Decision.REUSE ? Phase.CONNECTING : Phase.PUBLISHING;
  }

  /** How long what this task is to publish must be; 0 if it is to publish nothing, or has. */
  int awaitedBytes(int partition) {
    if (phase != Phase.PUBLISHING || published.containsKey(pe(partition))) {
      return 0;
    }
    if (isWired()) {
      return SparkgapNative.SPARKGAP_CARD_BYTES;
    }
    return pe(partition) == 0 ? SparkgapNative.SPARKGAP_WORLD_ID_BYTES : 0;
  }

  /** The last that is awaited lets all connect. */
  void publish(int partition, WorldId id) {
    published.put(pe(partition), id);
    if (published.size() == (isWired() ? tasks : 1)) {
      worldId = WorldId.ofCards(List.copyOf(published.values()));
      phase = Phase.CONNECTING;
    }
  }

  /** What is not of this world is no word of it. */
  void link(List<String> told) {
    if (world != null
        && told.size() == tasks
        && told.stream().allMatch(row -> row.length() == tasks)) {
      links = told;
    }
  }

  List<String> links() {
    return links;
  }

  private boolean isWired() {
    return Place.of(0, world.members()).isWired();
  }

  int pe(int partition) {
    return peOfPartition[partition];
  }

  /** Returns whether this was the last PE that the world waited for. */
  boolean markReady(int partition) {
    ready.set(partition);
    if (phase == Phase.CONNECTING && ready.cardinality() == tasks) {
      phase = Phase.RUNNING;
      return true;
    }
    return false;
  }

  /** Returns whether this was the last PE in the world. */
  boolean markLeft(Leave leave) {
    left.set(leave.partition());
    kept &= leave.reusable();
    if (world != null) {
      callsOfPes.put(pe(leave.partition()), leave.calls());
      countCalls(leave.calls());
      histories.add(leave.history());
    }
    if (isLive() && left.cardinality() == tasks) {
      phase = Phase.ENDED;
      return true;
    }
    return false;
  }

  /** A PE has made so many collective calls in this world. */
  void countCalls(long calls) {
    mostCalls = Math.max(mostCalls, calls);
  }

  long mostCalls() {
    return mostCalls;
  }

  /** Whether every executor kept its end. */
  boolean isKept() {
    return kept;
  }

  /** Whether all PEs that have left made the same collective calls. */
  boolean isInStep() {
    return histories.size() <= 1;
  }

  /** For messages: "PE 0: 11, PE 1: 12". */
  String calls() {
    return callsOfPes.entrySet().stream()
        .map(each -> "PE " + each.getKey() + ": " + each.getValue())
        .collect(Collectors.joining(", "));
  }

  void fail(String reason) {
    phase = Phase.FAILED;
    failure = reason;
  }

  /** A PE's process has ended, whatever else has failed. */
  void lose() {
    lost = true;
  }

  /** What a member that registers or polls is told. */
  Answer answer(int partition, List<Long> retired) {
    return switch (phase) {
      case GATHERING -> new Wait(pollMicros(tasks));
      case PUBLISHING ->
          awaitedBytes(partition) > 0
              ? assignment(partition, retired)
              : new Wait(pollMicros(tasks));
      case CONNECTING, RUNNING -> assignment(partition, retired);
      case ENDED -> new Refused("the world of stage " + stage + " has ended");
      case FAILED -> new Refused(failure);
    };
  }

  /** The executor's offers, for what is retired. */
  List<Long> idleEpochs(int partition) {
    return registered.get(partition).idleEpochs();
  }

  /**
   * For messages, as PEs' own name each other: "PE 2 (executor 3 on node-a, partition 5)", without
   * the number before it has one.
   */
  String describe(int partition) {
    String where = " (" + registered.get(partition).member().label() + ")";
    return world == null ? "the task" + where : "PE " + pe(partition) + where;
  }

  /** For messages: who is in an executor. */
  String describe(String executorId) {
    return members().stream()
        .filter(member -> member.executorId().equals(executorId))
        .map(member -> describe(member.partition()))
        .collect(Collectors.joining(", "));
  }

  /** For messages: who is not here yet. */
  String missingPartitions() {
    return list(IntStream.range(0, tasks).filter(partition -> !has(partition)));
  }

  /** For messages: who is not ready yet. */
  String unreadyMembers() {
    return IntStream.range(0, tasks)
        .filter(partition -> !ready.get(partition))
        .mapToObj(this::describe)
        .collect(Collectors.joining(", "));
  }

  private Answer assignment(int partition, List<Long> retired) {
    return new Assignment(
        decision,
        world.epoch(),
        world.provider(),
        reason,
        pe(partition),
        world.members(),
        worldId,
        retired);
  }

  /** For messages: whom the world waits for before anybody can connect. */
  String unpublishedMembers() {
    return IntStream.range(0, tasks)
        .filter(partition -> awaitedBytes(partition) > 0)
        .mapToObj(this::describe)
        .collect(Collectors.joining(", "));
  }

  private List<Member> members() {
    return new ArrayList<>(registered.values().stream().map(Register::member).toList());
  }

  private static String list(IntStream partitions) {
    List<String> numbers = partitions.mapToObj(Integer::toString).toList();
    int shown = Math.min(numbers.size(), 16);
    String text = String.join(", ", numbers.subList(0, shown));
    return shown == numbers.size() ? text : text + " and " + (numbers.size() - shown) + " more";
  }
}
