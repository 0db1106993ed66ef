package io.sparkgap.launcher.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What JVMs of Java 17 print when they cannot start. */
class JvmStartTest {
  private static Failure of(String output) {
    return JvmStart.failure("driver", output.lines().toList()).orElseThrow();
  }

  @Test
  void aModuleThatIsNotThereIsNamed() {
    Failure failure =
        of(
            """
            Error occurred during initialization of boot layer
            java.lang.module.FindException: Module jdk.incubator.vector not found
            """);
    assertThat(failure.kind()).isEqualTo(ExitCode.INTERNAL);
    assertThat(failure.cause())
        .isEqualTo(
            "the JVM of the driver did not start: java.lang.module.FindException: Module"
                + " jdk.incubator.vector not found");
  }

  @Test
  void anAgentThatIsNotThereIsNamed() {
    Failure failure =
        of(
            """
            Spark Executor Command: "java" "-javaagent:/nonexistent.jar"
            ========================================

            Error opening zip file or JAR manifest missing : /nonexistent.jar
            Error occurred during initialization of VM
            agent library failed to init: instrument
            """);
    assertThat(failure.cause())
        .endsWith("Error opening zip file or JAR manifest missing : /nonexistent.jar");
    assertThat(failure.lines()).containsExactly("agent library failed to init: instrument");
  }

  @Test
  void anOptionThatTheJvmRefusesIsNamed() {
    assertThat(
            of("""
                    NOTE: Picked up JDK_JAVA_OPTIONS: -Da=b
                    Invalid maximum heap size: -Xmx9z
                    Error: Could not create the Java Virtual Machine.
                    Error: A fatal exception has occurred. Program will exit.
                    """)
                .cause())
        .isEqualTo("the JVM of the driver did not start: Invalid maximum heap size: -Xmx9z");
  }

  @Test
  void aJvmThatRanIsNone() {
    assertThat(JvmStart.failure("driver", List.of("Error: Failed to load class A.", "sum 3")))
        .isEmpty();
  }
}
