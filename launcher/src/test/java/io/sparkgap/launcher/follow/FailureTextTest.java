package io.sparkgap.launcher.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Causes, from what Spark 4.2 and Python print. */
class FailureTextTest {
  private static Failure of(String log) {
    return FailureText.of(log.lines().toList()).orElseThrow();
  }

  @Test
  void ofAFailedBarrierStageItIsTheTasksOwnException() {
    Failure failure =
        of(
            """
            20:46:59.713 ERROR TaskSetManager: something
            Exception in thread "main" org.apache.spark.SparkException: Job aborted due to stage failure: ShuffleMapStage 0 (mapPartitionsToPair at WorldJob.java:68) has failed the maximum allowable number of times: 4. Most recent failure reason: Stage failed because barrier task ShuffleMapTask(0, 1) finished unsuccessfully.
            java.lang.IllegalArgumentException: row 17 is no number
            see the manual
            \tat io.sparkgap.launcher.application.TestApplication.run(TestApplication.java:61)
            \tat java.base/java.lang.Thread.run(Thread.java:840)

            Driver stacktrace:
            \tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2935)
            Caused by: java.lang.IllegalArgumentException: row 17 is no number
            20:47:00.000 INFO ShutdownHookManager: Shutdown hook called
            """);
    assertThat(failure.kind()).isEqualTo(ExitCode.USER_CODE);
    assertThat(failure.cause())
        .isEqualTo("java.lang.IllegalArgumentException: row 17 is no number");
    assertThat(failure.lines()).containsExactly("see the manual");
  }

  @Test
  void ofAPlainStageItIsTheLostTasksException() {
    Failure failure =
        FailureText.ofText(
            "Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent"
                + " failure: Lost task 0.3 in stage 1.0 (TID 3) (10.0.0.1 executor 1):"
                + " java.lang.ArithmeticException: / by zero\n\tat Foo.bar(Foo.java:1)\n");
    assertThat(failure.cause()).isEqualTo("java.lang.ArithmeticException: / by zero");
    assertThat(failure.kind()).isEqualTo(ExitCode.USER_CODE);
  }

  @Test
  void aLostExecutorIsNoFaultOfTheUsersCode() {
    Failure failure =
        FailureText.ofText(
            "Stage failed because barrier task ShuffleMapTask(0, 1) finished unsuccessfully.\n"
                + "ExecutorLostFailure (executor 4 exited caused by one of the running tasks)"
                + " Reason: Command exited with code 9");
    assertThat(failure.kind()).isEqualTo(ExitCode.WORLD);
    assertThat(failure.cause()).contains("executor 4 exited", "code 9");
  }

  @Test
  void aPeerThatWasLostIsAFailureOfTheWorld() {
    assertThat(
            FailureText.ofText(
                    "Stage failed because barrier task ResultTask(0, 1) finished unsuccessfully.\n"
                        + "io.sparkgap.api.PeerTimeoutException: PE 1 waited 30 s for PE 0")
                .kind())
        .isEqualTo(ExitCode.WORLD);
  }

  @Test
  void theDriversOwnExceptionIsTheUsers() {
    Failure failure =
        of(
            """
            Exception in thread "main" java.lang.IllegalStateException: the driver's own mistake
            \tat Main.main(Main.java:3)
            """);
    assertThat(failure.cause())
        .isEqualTo("java.lang.IllegalStateException: the driver's own mistake");
    assertThat(failure.kind()).isEqualTo(ExitCode.USER_CODE);
  }

  @Test
  void anExceptionThatOnlyWrapsAnotherIsToldInTheWordsOfThat() {
    Failure failure =
        of(
            """
            Exception in thread "main" java.lang.reflect.InvocationTargetException
            \tat java.base/java.lang.reflect.Method.invoke(Method.java:569)
            \tat Main.main(Main.java:3)
            Caused by: java.util.concurrent.ExecutionException: java.io.UncheckedIOException
            \t... 12 more
            Caused by: java.lang.IllegalStateException: the plugin's own words
            and more of them
            \tat Plugin.init(Plugin.java:3)
            \t... 13 more
            Caused by: java.io.IOException: deeper
            20:47:00.000 INFO ShutdownHookManager: Shutdown hook called
            """);
    assertThat(failure.cause())
        .isEqualTo("java.lang.IllegalStateException: the plugin's own words");
    assertThat(failure.lines()).containsExactly("and more of them");
    assertThat(
            FailureText.ofText("java.lang.reflect.InvocationTargetException\n\tat A.b(A)").cause())
        .as("nothing better is known")
        .isEqualTo("java.lang.reflect.InvocationTargetException");
  }

  @Test
  void aTaskThatWrapsItsExceptionIsToldInTheWordsOfThat() {
    assertThat(
            FailureText.ofText(
                    """
                    Stage failed because barrier task ResultTask(0, 1) finished unsuccessfully.
                    java.lang.ExceptionInInitializerError
                    \tat A.<clinit>(A.java:1)
                    Caused by: java.lang.IllegalArgumentException: row 17
                    """)
                .cause())
        .isEqualTo("java.lang.IllegalArgumentException: row 17");
  }

  @Test
  void anApplicationThatTheMasterGivesUpIsNoFaultOfTheUsersCode() {
    assertThat(
            FailureText.ofText(
                    "org.apache.spark.SparkException: Exiting due to error from cluster scheduler:"
                        + " Master removed our application: FAILED")
                .kind())
        .isEqualTo(ExitCode.WORLD);
  }

  @Test
  void tooFewSlotsIsAWaitThatWasTooLong() {
    Failure failure =
        of(
            """
            Exception in thread "main" java.lang.IllegalStateException: Sparkgap.run needs 3 task slots at once, one for each PE, and the application has 2
            """);
    assertThat(failure.kind()).isEqualTo(ExitCode.WAITED_TOO_LONG);
  }

  @Test
  void aConfigurationThatThePluginRefusesIsAMistakeOfUsage() {
    assertThat(
            FailureText.ofText(
                    "java.lang.IllegalArgumentException: Sparkgap cannot run with this"
                        + " configuration: spark.dynamicAllocation.enabled is true")
                .kind())
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void whatSparkSubmitRefusesIsAMistakeOfUsage() {
    Failure failure = of("Error: Failed to load class com.example.Nothing.\n");
    assertThat(failure.cause()).isEqualTo("Failed to load class com.example.Nothing.");
    assertThat(failure.kind()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void ofPythonItIsTheLastLineOfTheTraceback() {
    Failure failure =
        of(
            """
            Traceback (most recent call last):
              File "/tmp/app.py", line 3, in <module>
                int("x")
            ValueError: invalid literal for int() with base 10: 'x'
            20:47:00.000 INFO ShutdownHookManager: Shutdown hook called
            """);
    assertThat(failure.cause())
        .isEqualTo("ValueError: invalid literal for int() with base 10: 'x'");
    assertThat(failure.lines()).isEmpty();
  }

  @Test
  void aLogWithoutAnExceptionHasNoCause() {
    assertThat(FailureText.of(List.of("20:47:00.000 INFO SparkContext: stopped"))).isEmpty();
  }
}
