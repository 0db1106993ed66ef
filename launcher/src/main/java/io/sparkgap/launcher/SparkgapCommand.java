package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ExitCode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The root of the command line. */
@Command(
    name = "sparkgap",
    description = "Collectives and one-sided communication between the executors of Apache Spark.",
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      SubmitCommand.class,
      StatusCommand.class,
      LogsCommand.class,
      KillCommand.class,
      DoctorCommand.class,
      BenchCommand.class,
      TuneCommand.class,
      DemoCommand.class,
      CompletionCommand.class
    },
    footer = {"", "`sparkgap COMMAND --help` tells more of a command."})
public final class SparkgapCommand {
  private static final String VERBOSE = "--verbose";

  private SparkgapCommand() {}

  public static void main(String[] args) {
    // What this prints is English, so its numbers are too.
    Locale.setDefault(Locale.ENGLISH);
    System.exit(commandLine().execute(args));
  }

  /** The whole command line, as it is parsed. */
  static CommandLine commandLine() {
    CommandLine commandLine =
        new CommandLine(new SparkgapCommand())
            .setUsageHelpWidth(80)
            .setUsageHelpAutoWidth(true)
            .setExecutionExceptionHandler(SparkgapCommand::explain);
    Map<String, String> codes = new LinkedHashMap<>();
    for (ExitCode code : ExitCode.values()) {
      codes.put(String.valueOf(code.code()), code.meaning());
    }
    CommandLine submit = commandLine.getSubcommands().get("submit");
    // What comes after the application is for the application.
    submit.setStopAtPositional(true);
    submit.getCommandSpec().usageMessage().exitCodeListHeading("Exit codes:%n").exitCodeList(codes);
    return commandLine;
  }

  private static int explain(
      Exception failure, CommandLine commandLine, CommandLine.ParseResult parsed) {
    CommandLine.Help.ColorScheme colors = commandLine.getColorScheme();
    boolean verbose = commandLine.getParseResult().hasMatchedOption(VERBOSE);
    ExitCode code = ExitCode.INTERNAL;
    String message;
    if (failure instanceof LauncherException known) {
      code = known.exitCode();
      message = failure.getMessage();
    } else {
      message =
          "an error of sparkgap itself: " + failure + (verbose ? "" : " (--verbose shows where)");
    }
    commandLine.getErr().println(colors.errorText("sparkgap: " + message));
    if (verbose) {
      failure.printStackTrace(commandLine.getErr());
    }
    return code.code();
  }
}
