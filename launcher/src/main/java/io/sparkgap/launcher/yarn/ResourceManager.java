package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/** Hadoop's client of a resource manager, whose failures become sentences. */
final class ResourceManager implements AutoCloseable {
  private final Configuration configuration;
  private final YarnClient client;

  /** Connects with the first call. */
  ResourceManager(Configuration configuration) {
    this.configuration = configuration;
    this.client = YarnClient.createYarnClient();
    client.init(configuration);
  }

  /** A call of the client. */
  interface Call<T> {
    T of(YarnClient client) throws YarnException, IOException;
  }

  /** Gets ready; where the resource types are to come from the server, it is asked for them. */
  void start() throws LauncherException, InterruptedException {
    call(
        started -> {
          started.start();
          return null;
        });
  }

  Configuration configuration() {
    return configuration;
  }

  /**
   * Calls, or says that nobody answered.
   *
   * @throws LauncherException with {@link ExitCode#UNREACHABLE}
   */
  <T> T ask(Call<T> call) throws LauncherException, InterruptedException {
    return call(call);
  }

  private <T> T call(Call<T> call) throws LauncherException, InterruptedException {
    try {
      return call.of(client);
    } catch (YarnException | IOException | RuntimeException e) {
      if (Thread.interrupted() || Causes.has(e, InterruptedException.class)) {
        throw new InterruptedException();
      }
      throw Unreachable.because(e, configuration);
    }
  }

  /** For messages. */
  String address() {
    return address(configuration);
  }

  /** Of the resource manager; of all of them where there are several. */
  static String address(Configuration configuration) {
    String[] ids = configuration.getTrimmedStrings(YarnConfiguration.RM_HA_IDS);
    if (!configuration.getBoolean(YarnConfiguration.RM_HA_ENABLED, false) || ids.length == 0) {
      return configuration.get(YarnConfiguration.RM_ADDRESS);
    }
    StringBuilder addresses = new StringBuilder();
    for (String id : ids) {
      String address = configuration.get(YarnConfiguration.RM_ADDRESS + "." + id);
      if (address == null) {
        address =
            configuration.get(YarnConfiguration.RM_HOSTNAME + "." + id)
                + ":"
                + YarnConfiguration.DEFAULT_RM_PORT;
      }
      addresses.append(addresses.isEmpty() ? "" : ", ").append(address);
    }
    return addresses.toString();
  }

  @Override
  public void close() {
    client.stop();
  }
}
