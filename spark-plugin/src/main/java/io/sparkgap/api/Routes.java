package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_BY_HOLD;
import static io.sparkgap.jni.SparkgapNative.SPARKGAP_BY_TABLE;
import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_algorithms;
import static io.sparkgap.jni.SparkgapNative.sparkgap_explain;
import static io.sparkgap.jni.SparkgapNative.sparkgap_route;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_key;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_set_algorithm;

import io.sparkgap.jni.RouteExplanation;
import io.sparkgap.jni.TuningTable;
import java.util.List;
import java.util.Optional;

/** Which way the collectives of one communicator take, asked for and given. */
final class Routes {
  private final WorldEnd end;

  Routes(WorldEnd end) {
    this.end = end;
  }

  Route route(Collective collective, long count, DataType type) {
    end.confinement.enter(Call.ROUTE);
    try {
      String call = Refusals.call(Call.ROUTE, "collective count type", collective, count, type);
      end.refusals.missing(call, "collective", collective);
      end.refusals.negative(call, "count", count);
      end.refusals.missing(call, "type", type);
      String route = sparkgap_route(end.handle, collective.code, count, type.code).getString();
      if (route.isEmpty()) {
        throw end.refusals.illegal(call, Errors.lastError(end.handle) + ".");
      }
      return Route.parse(route);
    } finally {
      end.confinement.exit();
    }
  }

  RouteChoice explain(Collective collective, long count, DataType type) {
    end.confinement.enter(Call.EXPLAIN);
    try (RouteExplanation found = new RouteExplanation()) {
      String call = Refusals.call(Call.EXPLAIN, "collective count type", collective, count, type);
      end.refusals.missing(call, "collective", collective);
      end.refusals.negative(call, "count", count);
      end.refusals.missing(call, "type", type);
      int status = sparkgap_explain(end.handle, collective.code, count, type.code, found);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, call);
      }
      String next = found.next_route().getString();
      return new RouteChoice(
          Route.parse(found.route().getString()),
          reason(found.reason()),
          found.table().getString(),
          new RouteChoice.Time(found.microseconds(), found.measured() != 0),
          next.isEmpty()
              ? Optional.empty()
              : Optional.of(
                  new RouteChoice.Alternative(
                      Route.parse(next),
                      new RouteChoice.Time(
                          found.next_microseconds(), found.next_measured() != 0))));
    } finally {
      end.confinement.exit();
    }
  }

  List<String> algorithms(Collective collective) {
    end.confinement.enter(Call.ROUTE);
    try {
      String call = Refusals.call(Call.ROUTE, "collective", collective);
      end.refusals.missing(call, "collective", collective);
      return List.of(sparkgap_algorithms(end.handle, collective.code).getString().split(", ", -1));
    } finally {
      end.confinement.exit();
    }
  }

  TuningKey tuningKey() {
    end.confinement.enter(Call.TUNING_KEY);
    try (TuningTable key = new TuningTable()) {
      int status = sparkgap_world_key(end.handle, key);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, Refusals.call(Call.TUNING_KEY, ""));
      }
      return new TuningKey(
          key.provider().getString(),
          key.device().getString(),
          Link.of(key.link()),
          key.pes_from(),
          key.nodes_from(),
          key.shared() != 0,
          key.lanes_from(),
          key.nvshmem().getString(),
          key.nccl().getString());
    } finally {
      end.confinement.exit();
    }
  }

  private static RouteChoice.Reason reason(int code) {
    return switch (code) {
      case SPARKGAP_BY_TABLE -> RouteChoice.Reason.TABLE;
      case SPARKGAP_BY_HOLD -> RouteChoice.Reason.HELD;
      default -> RouteChoice.Reason.RULE;
    };
  }

  void holdTo(Collective collective, String algorithm) {
    end.confinement.enter(Call.HOLD_TO);
    try {
      String call = Refusals.call(Call.HOLD_TO, "collective algorithm", collective, algorithm);
      end.refusals.missing(call, "collective", collective);
      int status = sparkgap_world_set_algorithm(end.handle, collective.code, algorithm);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, call);
      }
    } finally {
      end.confinement.exit();
    }
  }
}
