package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_step_begin;
import static io.sparkgap.jni.SparkgapNative.sparkgap_step_calls;
import static io.sparkgap.jni.SparkgapNative.sparkgap_step_destroy;
import static io.sparkgap.jni.SparkgapNative.sparkgap_step_drop;
import static io.sparkgap.jni.SparkgapNative.sparkgap_step_end;
import static io.sparkgap.jni.SparkgapNative.sparkgap_step_number;
import static io.sparkgap.jni.SparkgapNative.sparkgap_step_run;

import io.sparkgap.jni.StepHandle;
import java.util.ArrayList;
import java.util.List;

/** The steps of one communicator: recording, running, closing. */
final class Steps {
  private final WorldEnd end;
  private final List<Step> open = new ArrayList<>();

  Steps(WorldEnd end) {
    this.end = end;
  }

  Step record(StepFunction function, Communicator communicator) {
    begin(function);
    boolean recorded = false;
    try {
      function.record(communicator);
      recorded = true;
    } finally {
      if (!recorded) {
        drop();
      }
    }
    return finish();
  }

  private void begin(StepFunction function) {
    end.confinement.enter(Call.RECORD);
    try {
      String call = Refusals.call(Call.RECORD, "");
      end.refusals.missing(call, "the function", function);
      require(sparkgap_step_begin(end.handle), call);
      end.recorded = new ArrayList<>();
      end.confinement.beginRecording();
    } finally {
      end.confinement.exit();
    }
  }

  private void drop() {
    end.confinement.enterToEndRecording();
    try {
      end.recorded = null;
      // What the function threw says more than this could.
      var unused = sparkgap_step_drop(end.handle);
    } finally {
      end.confinement.exit();
    }
  }

  private Step finish() {
    end.confinement.enterToEndRecording();
    try {
      List<Buffer> used = end.recorded;
      end.recorded = null;
      StepHandle handle = new StepHandle();
      require(sparkgap_step_end(end.handle, handle), Refusals.call(Call.RECORD, ""));
      Step step =
          new Step(this, handle, sparkgap_step_number(handle), sparkgap_step_calls(handle), used);
      open.add(step);
      return step;
    } finally {
      end.confinement.exit();
    }
  }

  void run(Step step) {
    end.confinement.enter(Call.RUN_STEP);
    try {
      if (step.isClosed()) {
        throw new IllegalStateException(
            step + ".run() on " + end.where() + ": the step is closed. Run it before its close().");
      }
      int status = sparkgap_step_run(end.handle, step.handle);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, step + ".run()");
      }
    } finally {
      end.confinement.exit();
    }
  }

  void close(Step step) {
    end.confinement.enter(Call.CLOSE_STEP);
    try {
      if (open.remove(step)) {
        destroy(step);
      }
    } finally {
      end.confinement.exit();
    }
  }

  /** By the thread that is inside: closes what is open, which waits for nothing. */
  void closeInside() {
    open.forEach(this::destroy);
    open.clear();
  }

  private void destroy(Step step) {
    var unused = sparkgap_step_destroy(end.handle, step.handle);
    step.markClosed();
  }

  private void require(int status, String call) {
    if (status != SPARKGAP_OK) {
      throw end.failure(status, call);
    }
  }
}
