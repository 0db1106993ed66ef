package io.sparkgap.doctor;

import io.sparkgap.bootstrap.WireSettings;
import java.nio.file.Path;
import java.util.Map;

/**
 * What an application's settings say to the checks, by the names of their keys: {@code
 * SparkgapConf} reads and checks them all, but only where Spark is.
 *
 * @param all of Spark's settings
 * @param nativeCache where the native library may be unpacked, unless a setting says; null: nowhere
 * @param host the name that Spark gives this host; empty: the one that it gives itself
 */
record Settings(Map<String, String> all, Path nativeCache, String host) {
  static final String PROVIDER = "spark.sparkgap.provider";
  static final String FABRIC_LIBRARY = "spark.sparkgap.fabric.library";
  static final String HOST_DIRECTORY = "spark.sparkgap.host.directory";
  static final String DEVICE_SHARED = "spark.sparkgap.device.shared";
  private static final String NATIVE_CACHE = "spark.sparkgap.native.cache";

  /** The value of a key, or the empty text. */
  String get(String key) {
    return all.getOrDefault(key, "").strip();
  }

  /** The tmpfs that worlds are made in; empty where their memory is in no file system. */
  String hostDirectory() {
    return get(HOST_DIRECTORY);
  }

  /** Null if neither a setting nor the application has a folder for it. */
  Path unpackedIn() {
    return get(NATIVE_CACHE).isEmpty() ? nativeCache : Path.of(get(NATIVE_CACHE));
  }

  /** Where a provider's library is said to be; empty if it is looked for. */
  String library(String provider) {
    return get("spark.sparkgap." + provider + ".library");
  }

  /** Whether the application asks for that provider by name. */
  boolean wants(String provider) {
    return get(PROVIDER).equals(provider);
  }

  boolean isDeviceShared() {
    return get(DEVICE_SHARED).equals("true");
  }

  WireSettings wire() {
    String wire = get("spark.sparkgap.wire");
    return new WireSettings(
        wire.isEmpty() ? "auto" : wire,
        get("spark.sparkgap.wire.address"),
        get("spark.sparkgap.wire.ports"),
        get(FABRIC_LIBRARY));
  }

  /** The first of the settings for the wire that is set, for a sentence; empty if none is. */
  String aboutWire() {
    return all.keySet().stream()
        .filter(key -> key.startsWith("spark.sparkgap.wire") || key.equals(FABRIC_LIBRARY))
        .filter(key -> !get(key).isEmpty())
        .sorted()
        .findFirst()
        .orElse("");
  }
}
