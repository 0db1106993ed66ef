package io.sparkgap.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How these tests start a command: its signals must not be theirs. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class CommandTest {
  @TempDir private Path folder;

  /** As `mvn verify &` in a script is: everything below it is born with SIGINT ignored. */
  @Test
  void aCommandHeedsSignalsAlsoWhereTheTestsAreRunInTheBackground() throws Exception {
    Path fake = Files.createDirectories(folder.resolve("home/launcher/bin")).resolve("sparkgap");
    Files.writeString(fake, "#!/bin/sh\nexec grep SigIgn /proc/self/status\n");
    assertThat(fake.toFile().setExecutable(true)).isTrue();

    ProcessBuilder background =
        new ProcessBuilder(
            "bash",
            "-c",
            "trap '' INT QUIT TERM; exec \"$@\"",
            "bash",
            "java",
            "-cp",
            System.getProperty("java.class.path"),
            CommandTest.class.getName(),
            folder.toString());
    Process process = background.inheritIO().start();

    assertThat(process.waitFor()).isZero();
    assertThat(Files.readString(folder.resolve("out")))
        .as("a bit for each signal up to 31; those above are the C library's own")
        .matches("SigIgn:\\s*[0-9a-f]{8}[08]0{7}\\s*");
  }

  /** Runs the command of a folder. */
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    Command command = new Command(folder.resolve("home"), folder, Map.of());
    System.exit(command.run("any").exitCode());
  }
}
