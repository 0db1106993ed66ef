package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ExitCode;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sparkgap completion}. */
@Command(
    name = "completion",
    header = "Prints a script for completion in bash and zsh.",
    description = {"", "  source <(sparkgap completion)", ""},
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class)
final class CompletionCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    System.out.print(AutoComplete.bash("sparkgap", spec.root().commandLine()));
    return ExitCode.SUCCESS.code();
  }
}
