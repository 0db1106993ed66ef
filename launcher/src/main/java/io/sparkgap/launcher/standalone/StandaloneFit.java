package io.sparkgap.launcher.standalone;

import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Preflight.Row;
import io.sparkgap.launcher.cluster.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** Whether the executors of a request fit the workers. A pure function of both. */
final class StandaloneFit {
  private final Containers asked;
  private final List<Worker> alive;
  private final int dead;
  private final List<Row> rows = new ArrayList<>();
  private final List<Refusal> refusals = new ArrayList<>();
  private final List<String> busy = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final int pes;

  StandaloneFit(Request request, List<Worker> workers) {
    asked = request.executors();
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
    long room = alive.stream().mapToLong(this::room).sum();
    long roomNow = alive.stream().mapToLong(this::roomNow).sum();
    rows.add(row("executors", asked.count(), 1, room, roomNow, ""));
    resource("cores", asked.cores(), Worker::cores, Worker::coresFree, "", "--executor-cores");
    resource(
        "memory",
        asked.memoryMib(),
        Worker::memory,
        Worker::memoryFree,
        " MiB",
        "--executor-memory");
    if (asked.gpus() > 0) {
      resource("GPUs", asked.gpus(), Worker::gpus, Worker::gpusFree, "", "--gpus-per-pe");
    }
    if (refusals.isEmpty() && room < asked.count()) {
      refusals.add(
          new Refusal(
              "%d executors of %s are asked for, but all workers together hold %d, if nothing else"
                      .formatted(asked.count(), size(), room)
                  + " runs",
              "use --pes %d or fewer, or smaller executors, or start more workers"
                  .formatted(room * pes / asked.count())));
    } else if (refusals.isEmpty() && roomNow < asked.count()) {
      busy.add(
          "%d executors of %s are asked for, and the workers have room for %d at this moment"
              .formatted(asked.count(), size(), roomNow));
    }
    if (dead > 0) {
      warnings.add(dead + " workers are dead and not counted");
    }
    if (alive.stream().map(Worker::host).distinct().count() > 1 && asked.count() > 1) {
      warnings.add(
          "the workers are on several hosts, and a world is within one for now: a master fills one"
              + " host after the other only if it was started with spark.deploy.spreadOut=false");
    }
    return new Preflight(rows, refusals, busy, warnings);
  }

  private String size() {
    return asked.cores()
        + (asked.cores() == 1 ? " core, " : " cores, ")
        + asked.memoryMib()
        + " MiB"
        + (asked.gpus() > 0 ? ", " + asked.gpus() + " GPU" : "");
  }

  /** A line for one resource, and a refusal if no worker has enough of it for one executor. */
  private void resource(
      String what,
      long each,
      ToLongFunction<Worker> all,
      ToLongFunction<Worker> free,
      String unit,
      String option) {
    long there = alive.stream().mapToLong(all).sum();
    long now = alive.stream().mapToLong(free).sum();
    rows.add(row(what, asked.count(), each, there, now, unit));
    long largest = alive.stream().mapToLong(all).max().orElse(0);
    if (largest < each) {
      Worker best =
          alive.stream().filter(worker -> all.applyAsLong(worker) == largest).findFirst().get();
      refusals.add(
          new Refusal(
              "an executor needs %d%s of %s, but no worker has more than %d%s (%s)"
                  .formatted(each, unit, what, largest, unit, best.host()),
              what.equals("GPUs")
                  ? "start the workers with spark.worker.resource.gpu.amount and"
                      + " spark.worker.resource.gpu.discoveryScript, or leave --gpus-per-pe away"
                  : "use " + option + " " + largest + (unit.isEmpty() ? "" : "m") + " or less"));
    }
  }

  private static Row row(String what, long count, long each, long there, long free, String unit) {
    long wanted = count * each;
    Fit fit = wanted > there ? Fit.NEVER : wanted > free ? Fit.LATER : Fit.NOW;
    String asked =
        each == 1 && unit.isEmpty() ? String.valueOf(count) : count + " x " + each + unit;
    return new Row(what, asked, there + unit, free + unit, fit);
  }

  private long room(Worker worker) {
    return fits(worker.cores(), worker.memory(), worker.gpus());
  }

  private long roomNow(Worker worker) {
    return fits(worker.coresFree(), worker.memoryFree(), worker.gpusFree());
  }

  private long fits(long cores, long memory, long gpus) {
    long fit = Math.min(cores / asked.cores(), memory / asked.memoryMib());
    return asked.gpus() == 0 ? fit : Math.min(fit, gpus / asked.gpus());
  }
}
