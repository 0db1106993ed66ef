package io.sparkgap.launcher;

import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The root of the command line. */
@Command(
    name = "sparkgap",
    description = "Collectives and one-sided communication between the executors of Apache Spark.",
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = DemoCommand.class,
    footer = {"", "`sparkgap COMMAND --help` tells more of a command."})
public final class SparkgapCommand {
  private SparkgapCommand() {}

  public static void main(String[] args) {
    // What this prints is English, so its numbers are too.
    Locale.setDefault(Locale.ENGLISH);
    CommandLine commandLine =
        new CommandLine(new SparkgapCommand())
            .setUsageHelpWidth(80)
            .setUsageHelpAutoWidth(true)
            .setExecutionExceptionHandler(SparkgapCommand::explain);
    System.exit(commandLine.execute(args));
  }

  private static int explain(
      Exception failure, CommandLine commandLine, CommandLine.ParseResult parsed) throws Exception {
    if (!(failure instanceof LauncherException known)) {
      throw failure;
    }
    CommandLine.Help.ColorScheme colors = commandLine.getColorScheme();
    commandLine.getErr().println(colors.errorText("sparkgap: " + failure.getMessage()));
    return known.exitCode().code();
  }
}
