package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_algorithms;
import static io.sparkgap.jni.SparkgapNative.sparkgap_route;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_set_algorithm;

import java.util.List;

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
