package io.sparkgap.bootstrap;

import io.sparkgap.javacpp.BytePointer;
import io.sparkgap.jni.DeviceInfo;
import io.sparkgap.jni.SparkgapNative;
import java.util.HexFormat;

/** What the native library says of GPUs, providers and the wire in this process. Any thread. */
public final class NativeDevices {
  private static final int MESSAGE_BYTES = 4096;

  private NativeDevices() {}

  /** A GPU that could not be opened; the message says what was looked for and what to do. */
  public static final class UnusableDeviceException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableDeviceException(String message) {
      super(message);
    }
  }

  /**
   * Makes the GPU's context in this process, which takes most of a second the first time.
   *
   * @param ordinal CUDA's number of the GPU
   */
  public static Device open(int ordinal) throws UnusableDeviceException {
    try (DeviceInfo info = new DeviceInfo();
        BytePointer message = message()) {
      int status = SparkgapNative.sparkgap_device_open(ordinal, info, message, MESSAGE_BYTES);
      if (status != SparkgapNative.SPARKGAP_OK) {
        throw new UnusableDeviceException(message.getString());
      }
      return new Device(
          ordinal, info.name().getString(), info.uuid().getString(), info.pci().getString());
    }
  }

  /**
   * Asks whether a provider could serve in this process.
   *
   * @param library where it is; empty: looked for
   */
  public static Offer probe(String provider, String library) {
    try (BytePointer name = new BytePointer(provider);
        BytePointer path = new BytePointer(library);
        BytePointer message = message()) {
      int status = SparkgapNative.sparkgap_provider_probe(name, path, message, MESSAGE_BYTES);
      return new Offer(provider, status == SparkgapNative.SPARKGAP_OK, message.getString());
    }
  }

  /**
   * How the PEs of other processes can reach those of this one.
   *
   * @param host the name that Spark gives this host
   */
  public static Reach reach(WireSettings settings, String host) {
    byte[] node = new byte[SparkgapNative.SPARKGAP_NODE_KEY_BYTES];
    int known = SparkgapNative.sparkgap_node_key(node);
    if (known != SparkgapNative.SPARKGAP_OK) {
      throw new IllegalStateException("this process cannot tell which node it is on: " + known);
    }
    try (BytePointer wire = new BytePointer(settings.wire());
        BytePointer address = new BytePointer(settings.addressOf(host));
        BytePointer ports = new BytePointer(settings.ports());
        BytePointer library = new BytePointer(settings.fabricLibrary());
        BytePointer message = message()) {
      int status =
          SparkgapNative.sparkgap_wire_probe(wire, address, ports, library, message, MESSAGE_BYTES);
      return new Reach(
          HexFormat.of().formatHex(node),
          status == SparkgapNative.SPARKGAP_OK,
          message.getString());
    }
  }

  private static BytePointer message() {
    BytePointer message = new BytePointer(MESSAGE_BYTES);
    message.putString("");
    return message;
  }
}
