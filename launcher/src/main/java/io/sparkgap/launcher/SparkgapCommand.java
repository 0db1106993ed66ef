package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ExitCode;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

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
            .setParameterExceptionHandler(SparkgapCommand::explainUsage)
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

  /** What is wrong has to be in sight: the usage of some commands is longer than a screen. */
  private static int explainUsage(ParameterException failure, String[] args) {
    CommandLine commandLine = failure.getCommandLine();
    PrintWriter err = commandLine.getErr();
    err.println(commandLine.getColorScheme().errorText(failure.getMessage()));
    UnmatchedArgumentException.printSuggestions(failure, err);
    if (commandLine.getParent() == null) {
      commandLine.usage(err);
    } else {
      err.print(commandLine.getHelp().fullSynopsis());
      err.println("`" + commandLine.getCommandSpec().qualifiedName() + " --help` tells more.");
    }
    return commandLine.getCommandSpec().exitCodeOnInvalidInput();
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
