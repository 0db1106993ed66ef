package io.sparkgap.doctor;

import io.sparkgap.jni.NativeLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Sparkgap's own native library. */
final class NativeCode implements Check {
  private static final String NATIVE = "Sparkgap";

  private final Settings settings;
  private final TemporaryCache temporary;

  NativeCode(Settings settings, TemporaryCache temporary) {
    this.settings = settings;
    this.temporary = temporary;
  }

  @Override
  public String topic() {
    return NATIVE;
  }

  /** Why there is none to ask; empty if there is. Loads it at the first call, of any thread. */
  Optional<String> problem() {
    Path cache = settings.unpackedIn();
    return cache == null ? temporary.unpack(NativeCode::load) : load(cache);
  }

  private static Optional<String> load(Path cache) {
    NativeLibrary.cacheIn(cache);
    return NativeLibrary.load();
  }

  @Override
  public List<Finding> find() {
    Optional<String> problem = problem();
    if (problem.isPresent()) {
      return List.of(
          Finding.error(
              NATIVE,
              "its native library cannot be used: " + problem.get(),
              "spark.sparkgap.native.cache names another folder to unpack it into"));
    }
    return List.of(Finding.ok(NATIVE, NativeLibrary.version()).alike(NativeLibrary.version()));
  }
}
