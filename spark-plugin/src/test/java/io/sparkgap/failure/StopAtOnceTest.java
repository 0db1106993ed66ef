package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.support.SparkApplication;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A context that is stopped while its executors still rehearse. */
@ExtendWith(NothingLeft.class)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StopAtOnceTest {
  /** An application that has nothing to do. */
  public static final class Application {
    private Application() {}

    public static void main(String[] arguments) {
      for (int time = 0; time < 3; time++) {
        SparkApplication.start(SparkApplication.local(1)).close();
      }
      System.out.println("stopped");
    }
  }

  @Test
  void itWarnsOfNothing() throws Exception {
    try (DriverProcess driver = DriverProcess.start(Application.class, List.of())) {
      assertThat(driver.awaitExit()).isZero();
      assertThat(driver.lines()).as(driver.output()).contains("stopped");
      assertThat(driver.lines())
          .filteredOn(line -> line.contains("rehears") || line.contains("SparkgapPlugin"))
          .isEmpty();
    }
  }
}
