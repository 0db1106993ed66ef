package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConfigTableTest {
  /** Surefire runs in the module's folder. */
  private static final Path PAGE = Path.of("..", "docs", "configuration.md");

  @Test
  void thePageIsWhatTheDeclarationsSay() throws IOException {
    if (Boolean.getBoolean("sparkgap.docs.write")) {
      Files.createDirectories(PAGE.getParent());
      Files.writeString(PAGE, ConfigTable.markdown());
    }
    assertThat(Files.readString(PAGE))
        .as("docs/configuration.md is stale: its second paragraph says how to write it again")
        .isEqualTo(ConfigTable.markdown());
  }
}
