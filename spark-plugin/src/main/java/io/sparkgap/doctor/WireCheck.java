package io.sparkgap.doctor;

import io.sparkgap.bootstrap.NativeDevices;
import io.sparkgap.bootstrap.Reach;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** What would carry a world over several hosts, as an executor finds it out. */
final class WireCheck implements Check {
  private static final String WIRE = "Wire";

  private final Settings settings;
  private final NativeCode code;

  WireCheck(Settings settings, NativeCode code) {
    this.settings = settings;
    this.code = code;
  }

  @Override
  public String topic() {
    return WIRE;
  }

  @Override
  public List<Finding> find() {
    if (code.problem().isPresent()) {
      return List.of(
          Finding.warning(WIRE, "cannot be looked at without Sparkgap's native library", ""));
    }
    Reach reach = NativeDevices.reach(settings.wire(), host());
    if (reach.wired()) {
      return List.of(Finding.ok(WIRE, reach.detail()));
    }
    String set = settings.aboutWire();
    return List.of(
        set.isEmpty()
            ? Finding.warning(
                WIRE,
                reach.detail(),
                "worlds of one host do without; for several see docs/deploying.md#several-hosts")
            : Finding.error(
                WIRE,
                reach.detail(),
                "change " + set + ", or leave it away; docs/deploying.md#several-hosts"));
  }

  private String host() {
    if (!settings.host().isEmpty()) {
      return settings.host();
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return InetAddress.getLoopbackAddress().getHostAddress();
    }
  }
}
