package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.bootstrap.DriverLink.DriverUnreachableException;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.StageAttempt;
import java.lang.reflect.Proxy;
import org.apache.spark.api.plugin.PluginContext;
import org.junit.jupiter.api.Test;

class PluginDriverLinkTest {
  private static final Poll QUESTION = new Poll(new StageAttempt(0, 0), 0);

  private static PluginDriverLink linkWhoseQuestionsEndWith(Exception error) {
    return new PluginDriverLink(
        (PluginContext)
            Proxy.newProxyInstance(
                PluginDriverLinkTest.class.getClassLoader(),
                new Class<?>[] {PluginContext.class},
                (proxy, method, arguments) -> {
                  throw error;
                }));
  }

  /** As of an executor that still rehearses when its context is stopped: that has the plugin. */
  @Test
  void whereTheDriverEndsNobodyIsToldToLoadThePlugin() {
    PluginDriverLink link = linkWhoseQuestionsEndWith(new IllegalStateException("RpcEnv stopped"));
    assertThatThrownBy(() -> link.ask(QUESTION))
        .isInstanceOf(DriverUnreachableException.class)
        .hasMessageContaining("RpcEnv stopped")
        .hasMessageContaining("it has ended or is ending")
        .hasMessageNotContaining("spark.plugins");
  }

  @Test
  void whoeverIsInterruptedFindsTheInterruptionAndMayStillTellTheOthers() {
    PluginDriverLink link = linkWhoseQuestionsEndWith(new InterruptedException());
    assertThatThrownBy(() -> link.ask(QUESTION)).hasCauseInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isTrue();
  }
}
