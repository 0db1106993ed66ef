package io.sparkgap.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.PeInfo;
import io.sparkgap.bench.BenchSpec.Group;
import io.sparkgap.jni.NativeLibrary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * What one PE does in a benchmark. All PEs go through the same sizes, routes and batches; PE 0
 * tells what came of it.
 */
final class Sweep {
  /** Far less than who listens waits for a word. */
  private static final Duration PULSE = Duration.ofSeconds(10);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Communicator communicator;
  private final BenchSpec spec;
  private final String spark;
  private final Clock clock;
  private final boolean onGpus;
  private final Set<String> warm = new HashSet<>();
  private final List<String> lines = new ArrayList<>();
  private final Set<BenchEvent.LeftOut> told = new HashSet<>();

  /** Of what was asked for. */
  private final Set<String> carried = new HashSet<>();

  /**
   * @param spark its version, for the record
   */
  Sweep(Communicator communicator, BenchSpec spec, String spark) {
    this.communicator = communicator;
    this.spec = spec;
    this.spark = spark;
    this.clock = new Clock(communicator, new Pulse(PULSE, System::nanoTime, this::tell)::beat);
    this.onGpus = communicator.stream() != 0;
  }

  static String provider(Communicator communicator) {
    return communicator.route(Collective.BARRIER, 0, DataType.UINT8).provider();
  }

  /** What PE 0 told, once more; empty on the others. */
  String run() {
    long start = System.nanoTime();
    tell(world());
    List<Group> groups = without(spec.groups(onGpus, this::leaveOut));
    groups.removeIf(group -> spec.done().contains(group.key()));
    Sides sides = null;
    Group before = null;
    boolean complete = true;
    for (int i = 0; i < groups.size() && complete; i++) {
      Group group = groups.get(i);
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      if (clock.largest((double) millis) > spec.limitMillis()) {
        complete = false;
        break;
      }
      if (before == null || before.call() != group.call() || before.memory() != group.memory()) {
        if (sides != null) {
          sides.close();
        }
        sides = new Sides(communicator, group.call(), group.memory(), largest(groups, group));
      }
      before = group;
      tell(
          new BenchEvent.Measuring(
              i + 1, groups.size(), group.call(), group.type(), group.bytes()));
      measure(group, sides);
      tell(new BenchEvent.Done(group.key()));
    }
    if (sides != null) {
      sides.close();
    }
    if (complete) {
      spec.routes().stream()
          .filter(route -> !carried.contains(route))
          .forEach(
              route -> leaveOut("route " + route, "no call that was measured goes by it here"));
    }
    tell(new BenchEvent.End(complete));
    return String.join("\n", lines);
  }

  private static long largest(List<Group> groups, Group of) {
    return groups.stream()
        .filter(group -> group.call() == of.call() && group.memory() == of.memory())
        .mapToLong(Group::bytes)
        .max()
        .orElseThrow();
  }

  /** Leaves out what this world does not have. */
  private List<Group> without(List<Group> groups) {
    if (!onGpus || communicator.topology().nodes() == 1) {
      return groups;
    }
    groups.stream()
        .map(Group::call)
        .filter(Measured::isOneSided)
        .forEach(
            call ->
                leaveOut(call.text(), "worlds of GPUs on several nodes have no one-sided calls"));
    groups.removeIf(group -> group.call().isOneSided());
    return groups;
  }

  private void leaveOut(String what, String why) {
    leaveOut(new BenchEvent.LeftOut(what, why));
  }

  private void leaveOut(BenchEvent.LeftOut what) {
    if (told.add(what)) {
      tell(what);
    }
  }

  private void measure(Group group, Sides sides) {
    Pattern pattern = new Pattern(group.type(), group.op(), communicator.pes());
    sides.fill(group, pattern);
    Runnable call = sides.call(group);
    List<Lane> lanes = new ArrayList<>();
    for (String algorithm : algorithms(group.call())) {
      String held = algorithm.equals(BenchSpec.AUTO) ? null : algorithm;
      Lane lane = new Lane(communicator, clock, group, held, call, spec.batches());
      if (lane.carries()) {
        lanes.add(lane);
        carried.add(algorithm);
      }
    }
    if (lanes.isEmpty()) {
      leaveOut(
          group.call().text(),
          "at some sizes none of %s carries it; it has %s"
              .formatted(
                  String.join(", ", spec.routes()),
                  String.join(", ", communicator.algorithms(group.call().collective()))));
    }
    try {
      for (Lane lane : lanes) {
        if (spec.check() && !group.call().isEmpty()) {
          lane.check(sides, pattern);
        }
        lane.prepare((double) spec.batchMicros(), warm.add(warmth(group)));
      }
      for (int batch = 0; batch < spec.batches(); batch++) {
        lanes.forEach(Lane::measure);
      }
      lanes.forEach(lane -> tell(lane.row()));
    } finally {
      lanes.forEach(Lane::close);
      if (!group.call().isOneSided()) {
        communicator.holdTo(group.call().collective(), null);
      }
    }
  }

  /** What code of Java's a group runs. */
  private static String warmth(Group group) {
    return group.call().text() + group.memory() + group.mode();
  }

  /** What to hold a call to, one after the other. */
  private List<String> algorithms(Measured call) {
    List<String> all = new ArrayList<>();
    if (call.isOneSided() || spec.routes().isEmpty() || spec.routes().contains(BenchSpec.AUTO)) {
      all.add(BenchSpec.AUTO);
    }
    if (!call.isOneSided()) {
      for (String algorithm : communicator.algorithms(call.collective())) {
        if (spec.routes().isEmpty()) {
          all.add(algorithm);
        }
        spec.routes().stream()
            .filter(route -> route.equals(algorithm) || route.endsWith("/" + algorithm))
            .forEach(all::add);
      }
    }
    return all;
  }

  private BenchEvent.World world() {
    return new BenchEvent.World(
        communicator.tuningKey(),
        communicator.topology().pes().stream().map(PeInfo::host).distinct().toList(),
        communicator.toString(),
        List.of(
            "Sparkgap " + NativeLibrary.version(), "Java " + Runtime.version(), "Spark " + spark));
  }

  private void tell(BenchEvent event) {
    if (communicator.pe() == 0) {
      try {
        String line = JSON.writeValueAsString(event);
        lines.add(line);
        communicator.report(line);
      } catch (JsonProcessingException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
