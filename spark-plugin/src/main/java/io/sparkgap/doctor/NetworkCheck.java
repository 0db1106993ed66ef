package io.sparkgap.doctor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Network interfaces, the name of the host, and InfiniBand. */
final class NetworkCheck implements Check {
  private static final String NETWORK = "Network";
  private static final String INFINIBAND = "InfiniBand";
  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  @Override
  public String topic() {
    return NETWORK;
  }

  @Override
  public List<Finding> find() throws IOException {
    return List.of(interfaces(), infiniband());
  }

  private static Finding interfaces() throws SocketException {
    List<String> found = new ArrayList<>();
    for (NetworkInterface one : NetworkInterface.networkInterfaces().toList()) {
      if (one.isUp() && !one.isLoopback()) {
        String addresses =
            one.getInterfaceAddresses().stream()
                .map(address -> address.getAddress())
                .filter(address -> !address.isLinkLocalAddress())
                .map(InetAddress::getHostAddress)
                .map(address -> address.replaceAll("%.*", ""))
                .collect(Collectors.joining(" "));
        if (!addresses.isEmpty()) {
          found.add(one.getName() + " " + addresses + speed(one.getName()));
        }
      }
    }
    if (found.isEmpty()) {
      return Finding.warning(
          NETWORK,
          "this host reaches itself only: no interface but loopback is up",
          "worlds of several hosts need one; those of one host do not");
    }
    String text = String.join(", ", found.stream().sorted().toList());
    try {
      return Finding.ok(NETWORK, InetAddress.getLocalHost().getHostName() + ": " + text);
    } catch (UnknownHostException e) {
      return Finding.warning(
          NETWORK,
          text + "; the name of this host has no address: " + e.getMessage(),
          "add a line for it to /etc/hosts, or set SPARK_LOCAL_IP to one of these");
    }
  }

  /** Virtual interfaces have none. */
  private static String speed(String name) {
    Path file = Path.of("/sys/class/net", name, "speed");
    try {
      int megabits = Integer.parseInt(Files.readString(file).strip());
      return megabits < 1
          ? ""
          : megabits < 1000 ? " (" + megabits + " Mbit/s)" : " (" + megabits / 1000 + " Gbit/s)";
    } catch (IOException | NumberFormatException notTold) {
      return "";
    }
  }

  private static Finding infiniband() throws IOException {
    if (!Files.isDirectory(DEVICES)) {
      return Finding.ok(INFINIBAND, "none");
    }
    List<String> ports = new ArrayList<>();
    boolean active = false;
    try (Stream<Path> devices = Files.list(DEVICES)) {
      for (Path device : devices.sorted().toList()) {
        try (Stream<Path> numbers = Files.list(device.resolve("ports"))) {
          for (Path port : numbers.sorted().toList()) {
            String state = told(port.resolve("state")).replaceAll("\\d+:", "").strip();
            String rate = told(port.resolve("rate"));
            String layer = told(port.resolve("link_layer"));
            active |= state.equals("ACTIVE");
            ports.add(
                "%s port %s %s, %s, %s"
                    .formatted(device.getFileName(), port.getFileName(), state, rate, layer));
          }
        }
      }
    }
    if (ports.isEmpty()) {
      return Finding.ok(INFINIBAND, "none");
    }
    String text = String.join("; ", ports);
    if (!active) {
      return Finding.warning(INFINIBAND, text, "no port is active: see `ibstat`, and the cable");
    }
    return verbs(text);
  }

  /** A port that is going away tells nothing. */
  private static String told(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "?";
    }
  }

  /** What a program needs beside an active port. */
  private static Finding verbs(String text) throws IOException {
    Path folder = Path.of("/dev/infiniband");
    boolean open = false;
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        open =
            files.anyMatch(
                file ->
                    file.getFileName().toString().startsWith("uverbs") && Files.isWritable(file));
      }
    }
    if (!open) {
      return Finding.warning(
          INFINIBAND,
          text + "; this process may open none of /dev/infiniband/uverbs*",
          "give the container the devices (docker run --device /dev/infiniband)");
    }
    String locked = LimitsCheck.limit("Max locked memory");
    if (!locked.equals("unlimited")) {
      return Finding.warning(
          INFINIBAND,
          text + "; locked memory is limited to " + locked + " bytes",
          "ulimit -l unlimited (docker run --ulimit memlock=-1)");
    }
    return Finding.ok(INFINIBAND, text);
  }
}
