package io.sparkgap.launcher.standalone;

import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.Counted;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Preflight.Row;
import io.sparkgap.launcher.cluster.Request;
import io.sparkgap.launcher.standalone.Worker.Room;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Whether the executors of a request, and its driver, fit the workers. A function of both. */
final class StandaloneFit {
  private final Containers asked;
  private final Containers driver;
  private final List<Worker> alive;
  private final int dead;
  private final List<Row> rows = new ArrayList<>();
  private final List<Refusal> refusals = new ArrayList<>();
  private final List<String> busy = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final int pes;

  StandaloneFit(Request request, List<Worker> workers) {
    asked = request.executors();
    driver = request.driver();
    pes = request.pes();
    alive = workers.stream().filter(Worker::alive).toList();
    dead = workers.size() - alive.size();
  }

  Preflight preflight() {
    if (alive.isEmpty()) {
      refusals.add(
          new Refusal(
              "the master has no worker that is alive"
                  + (dead > 0 ? " (" + dead + " are dead)" : ""),
              "start some: sbin/start-worker.sh MASTER on each node"));
      return new Preflight(rows, refusals, busy, warnings);
    }
    long room = executorsBesideDriver(Worker::capacity);
    long roomNow = executorsBesideDriver(Worker::free);
    rows.add(
        new Row(
            "executors",
            Long.toString(asked.count()),
            Long.toString(room),
            Long.toString(roomNow),
            fit(asked.count(), room, roomNow)));
    resource(
        "cores", "", Containers::cores, Room::cores, (who, most) -> option(who, "cores", most));
    resource(
        "memory",
        " MiB",
        Containers::memoryMib,
        Room::memory,
        (who, most) -> option(who, "memory", most + "m"));
    TreeSet<String> names = new TreeSet<>(asked.resources().keySet());
    names.addAll(driver.resources().keySet());
    for (String name : names) {
      resource(
          Counted.title(name),
          "",
          one -> one.resources().getOrDefault(name, 0L),
          there -> there.of(name),
          (who, most) -> start(who, name));
    }
    if (refusals.isEmpty() && room < asked.count()) {
      refusals.add(
          new Refusal(
              "%d executors of %s%s are asked for, but all workers together hold %d, if nothing else"
                      .formatted(asked.count(), size(asked), besideDriver(), room)
                  + " runs",
              "use --pes %d or fewer, or smaller executors, or start more workers"
                  .formatted(room * pes / asked.count())));
    } else if (refusals.isEmpty() && roomNow < asked.count()) {
      busy.add(
          "%d executors of %s%s are asked for, and the workers have room for %d at this moment"
              .formatted(asked.count(), size(asked), besideDriver(), roomNow));
    }
    warn();
    return new Preflight(rows, refusals, busy, warnings);
  }

  private void warn() {
    if (dead > 0) {
      warnings.add(dead + " workers are dead and not counted");
    }
    if (asked.resources().getOrDefault("gpu", 0L) > 0
        && alive.stream().map(Worker::host).distinct().count() > 1
        && asked.count() > 1) {
      warnings.add(
          "the workers are on several hosts: GPUs of one reach each other directly, those of several"
              + " by NCCL and the network alone, without one-sided calls. A master fills one host"
              + " after the other only if it was started with spark.deploy.spreadOut=false");
    }
  }

  private static String size(Containers one) {
    StringBuilder size = new StringBuilder();
    size.append(one.cores()).append(one.cores() == 1 ? " core, " : " cores, ");
    size.append(one.memoryMib()).append(" MiB");
    one.resources().forEach((name, amount) -> size.append(", ").append(Counted.text(name, amount)));
    return size.toString();
  }

  private String besideDriver() {
    return driver.count() == 0 ? "" : ", beside a driver of " + size(driver) + ",";
  }

  /** A line for one resource, and a refusal if no worker has enough of it for one container. */
  private void resource(
      String what,
      String unit,
      ToLongFunction<Containers> wanted,
      ToLongFunction<Room> amount,
      BinaryOperator<String> remedy) {
    long each = wanted.applyAsLong(asked);
    long drivers = wanted.applyAsLong(driver);
    long all = asked.count() * each + drivers;
    long there = alive.stream().map(Worker::capacity).mapToLong(amount).sum();
    long now = alive.stream().map(Worker::free).mapToLong(amount).sum();
    String cell =
        (each == 1 && unit.isEmpty() ? "" + asked.count() : asked.count() + " x " + each)
            + (drivers == 0 ? "" : " + " + drivers)
            + unit;
    rows.add(new Row(what, cell, there + unit, now + unit, fit(all, there, now)));
    Worker best =
        alive.stream()
            .max(Comparator.comparingLong(worker -> amount.applyAsLong(worker.capacity())))
            .orElseThrow();
    long largest = amount.applyAsLong(best.capacity());
    for (String who : List.of("executor", "driver")) {
      long needs = who.equals("driver") ? drivers : each;
      if (largest < needs) {
        refusals.add(
            new Refusal(
                "%s %s needs %d%s of %s, but no worker has more than %d%s (%s)"
                    .formatted(
                        who.equals("driver") ? "the" : "an",
                        who,
                        needs,
                        unit,
                        what,
                        largest,
                        unit,
                        best.host()),
                remedy.apply(who, Long.toString(largest))));
      }
    }
  }

  private static String option(String who, String of, String most) {
    return "use --" + who + "-" + of + " " + most + " or less";
  }

  private static String start(String who, String name) {
    String worker = "spark.worker.resource." + name;
    return "start the workers with %s.amount and %s.discoveryScript, or ask for less%s: %s"
        .formatted(
            worker,
            worker,
            name.equals("gpu") && who.equals("executor") ? " (--gpus-per-pe)" : "",
            "spark." + who + ".resource." + name + ".amount");
  }

  private static Fit fit(long wanted, long there, long free) {
    return wanted > there ? Fit.NEVER : wanted > free ? Fit.LATER : Fit.NOW;
  }

  /** How many executors there is room for with the driver among them, wherever it goes. */
  private long executorsBesideDriver(Function<Worker, Room> room) {
    if (driver.count() == 0) {
      return alive.stream().mapToLong(worker -> times(asked, room.apply(worker))).sum();
    }
    List<Room> rooms = alive.stream().map(room).toList();
    long all = rooms.stream().mapToLong(there -> times(asked, there)).sum();
    long most = 0;
    for (Room home : rooms) {
      if (times(driver, home) > 0) {
        most = Math.max(most, all - times(asked, home) + times(asked, without(home, driver)));
      }
    }
    return most;
  }

  private static long times(Containers one, Room room) {
    long times = Math.min(room.cores() / one.cores(), room.memory() / one.memoryMib());
    for (Map.Entry<String, Long> wanted : one.resources().entrySet()) {
      times = Math.min(times, room.of(wanted.getKey()) / wanted.getValue());
    }
    return times;
  }

  private static Room without(Room room, Containers taken) {
    Map<String, Long> resources = new HashMap<>(room.resources());
    taken.resources().forEach((name, amount) -> resources.merge(name, -amount, Long::sum));
    return new Room(room.cores() - taken.cores(), room.memory() - taken.memoryMib(), resources);
  }
}
