package io.sparkgap.launcher;

import io.sparkgap.launcher.submit.SparkOption;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.ISetter;
import picocli.CommandLine.Model.OptionSpec;

/** Gives {@code submit} the options that spark-submit has. */
final class SparkOptionsModel implements IModelTransformer {
  @Override
  public CommandSpec transform(CommandSpec spec) {
    SubmitCommand command = (SubmitCommand) spec.userObject();
    ArgGroupSpec.Builder group =
        ArgGroupSpec.builder()
            .validate(false)
            .multiplicity("0..1")
            .order(Integer.MAX_VALUE)
            .heading("%nOptions that spark-submit has as well:%n");
    for (SparkOption option : SparkOption.values()) {
      group.addArg(
          OptionSpec.builder(option.option())
              .paramLabel(option.label())
              .type(String.class)
              .description(option.description())
              .setter(
                  new ISetter() {
                    @Override
                    @SuppressWarnings("TypeParameterUnusedInFormals") // as picocli declares it
                    public <T> T set(T value) {
                      command.spark(option, (String) value);
                      return value;
                    }
                  })
              .build());
    }
    return spec.addArgGroup(group.build());
  }
}
