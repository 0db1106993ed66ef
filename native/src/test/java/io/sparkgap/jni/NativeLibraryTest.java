package io.sparkgap.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each case in a JVM of its own, for a library is loaded or not once in a process. */
class NativeLibraryTest {
  private static final Path CLASSES = location(NativeLibrary.class);
  private static final String FOLDER = "io/sparkgap/jni/linux-x86_64/";
  private static final String GPU_FILE = "libsparkgap_cuda.so";
  private static final String DIGEST_OF_NOTHING =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  @TempDir Path temporary;

  @Test
  void loadsFromAJarIntoTheDirectoryThatItIsGivenAndNowhereElse() throws Exception {
    Path home = Files.createDirectory(temporary.resolve("home"));
    Path tmp = Files.createDirectory(temporary.resolve("tmp"));
    Path cache = temporary.resolve("cache");
    Path jar = jar(name -> true);

    String said =
        run(List.of("-Duser.home=" + home, "-Djava.io.tmpdir=" + tmp), jar, cache.toString());

    assertThat(said).isEqualTo("loaded");
    assertThat(filesBelow(cache)).anyMatch(file -> file.endsWith(FOLDER + "libsparkgap.so"));
    assertThat(filesBelow(home)).isEmpty();
    assertThat(filesBelow(tmp)).isEmpty();
  }

  @Test
  void whatKernelsOfUsersIncludeIsBesideTheLibrary() {
    for (String header : List.of("sparkgap.h", "device_world.h", "device.cuh", "device/wait.cuh")) {
      assertThat(CLASSES.resolve(FOLDER + "include/sparkgap/" + header)).isRegularFile();
    }
  }

  @Test
  void theLibraryForGpusLiesBesideTheOtherThatLoadsIt() throws Exception {
    Path cache = temporary.resolve("cache");
    String digests = FOLDER + "libraries.sha256";
    Path jar =
        jar(
            name -> !name.endsWith(GPU_FILE) && !name.equals(digests),
            name -> false,
            Map.of(
                FOLDER + GPU_FILE,
                "",
                digests,
                Files.readString(CLASSES.resolve(digests)).replaceAll(".*" + GPU_FILE + "\n", "")
                    + DIGEST_OF_NOTHING
                    + "  "
                    + GPU_FILE
                    + "\n"));

    assertThat(run(List.of(), jar, cache.toString())).isEqualTo("loaded");

    assertThat(foldersOf(cache, GPU_FILE)).hasSize(1).isEqualTo(foldersOf(cache, "libsparkgap.so"));
  }

  @Test
  void theWireBetweenHostsLiesBesideTheLibraryThatLoadsIt() throws Exception {
    Path cache = temporary.resolve("cache");

    assertThat(run(List.of(), jar(name -> true), cache.toString())).isEqualTo("loaded");

    assertThat(foldersOf(cache, "libfabric.so.1"))
        .hasSize(1)
        .isEqualTo(foldersOf(cache, "libsparkgap.so"));
  }

  @Test
  void theUsersDirectoryComesBeforeThePlugins() throws Exception {
    Path users = temporary.resolve("users");
    Path plugins = temporary.resolve("plugins");

    String said =
        run(
            List.of("-Dio.sparkgap.javacpp.cachedir=" + users),
            jar(name -> true),
            plugins.toString());

    assertThat(said).isEqualTo("loaded");
    assertThat(users).isDirectory();
    assertThat(plugins).doesNotExist();
  }

  @Test
  void theHomeDirectoryIsTheDefault() throws Exception {
    Path home = temporary.resolve("home");

    assertThat(run(List.of("-Duser.home=" + home), jar(name -> true))).isEqualTo("loaded");

    assertThat(home.resolve(".javacpp").resolve("cache")).isDirectory();
  }

  @Test
  void aJarWithoutTheLibraryIsNamedWithWhatIsMissing() throws Exception {
    Path jar = jar(name -> !name.endsWith("libsparkgap.so"));

    assertThat(run(List.of(), jar))
        .startsWith("The native library of Sparkgap is missing")
        .contains(FOLDER + "libsparkgap.so")
        .contains(jar.toString())
        .contains("mvn package");
  }

  @Test
  void aJarWithoutTheBindingIsNamedWithWhatIsMissing() throws Exception {
    assertThat(run(List.of(), jar(name -> !name.contains("libjni"))))
        .contains(FOLDER + "libjniSparkgapNative.so");
  }

  @Test
  void anotherPlatformIsNamedWithTheOneThatIsSupported() throws Exception {
    assertThat(run(List.of("-Dos.arch=riscv64"), CLASSES))
        .contains("linux-riscv64")
        .contains("os.arch=riscv64")
        .contains("Supported is linux-x86_64");
  }

  @Test
  void aDirectoryThatCannotBeMadeIsNamedWithTheKey() throws Exception {
    Path file = Files.writeString(temporary.resolve("file"), "in the way");

    assertThat(run(List.of(), jar(name -> true), file.resolve("cache").toString()))
        .contains("cannot be extracted into " + file.resolve("cache"))
        .contains("Set spark.sparkgap.native.cache to a directory");
  }

  /** The plugin's key would change nothing there. */
  @Test
  void aDirectoryThatTheUserSetByThePropertyIsNamedWithTheProperty() throws Exception {
    Path file = Files.writeString(temporary.resolve("file"), "in the way");

    assertThat(
            run(
                List.of("-Dio.sparkgap.javacpp.cachedir=" + file.resolve("cache")),
                jar(name -> true)))
        .contains("cannot be extracted into " + file.resolve("cache"))
        .contains("Set -Dio.sparkgap.javacpp.cachedir (spark.executor.extraJavaOptions)");
  }

  @Test
  void aMissingHomeDoesNotLeadToTheTemporaryDirectory() throws Exception {
    Path tmp = Files.createDirectory(temporary.resolve("tmp"));

    assertThat(run(List.of("-Duser.home=?", "-Djava.io.tmpdir=" + tmp), jar(name -> true)))
        .contains("user.home=?")
        .contains("spark.sparkgap.native.cache");
    assertThat(filesBelow(tmp)).isEmpty();
  }

  @Test
  void aDirectoryThatIsMountedNoexecIsNamedWithTheKey() throws Exception {
    assumeTrue(canMount(), "needs a kernel that lets users mount in a namespace of their own");
    Path cache = Files.createDirectory(temporary.resolve("cache"));

    assertThat(run(mounted("noexec", cache), List.of(), jar(name -> true), cache.toString()))
        .contains("noexec")
        .contains(cache.toString())
        .contains("Set spark.sparkgap.native.cache to a directory");
  }

  @Test
  void aFullDiskIsNamedAsSuch() throws Exception {
    assumeTrue(canMount(), "needs a kernel that lets users mount in a namespace of their own");
    Path cache = Files.createDirectory(temporary.resolve("cache"));

    assertThat(run(mounted("size=256k", cache), List.of(), jar(name -> true), cache.toString()))
        .contains("the disk is full", "No space left on device")
        .contains(cache.toString())
        .contains("spark.local.dir", "spark.sparkgap.native.cache")
        .doesNotContain("glibc");
  }

  /** What the loader would map and then not find is a signal: the process would just end. */
  @Test
  void aLibraryThatWasCutIsNamedAndNotLoaded() throws Exception {
    Path jar = jar(name -> true);
    Path cut = temporary.resolve("cut.jar");
    try (JarFile whole = new JarFile(jar.toFile());
        JarOutputStream entries = new JarOutputStream(Files.newOutputStream(cut))) {
      for (JarEntry entry : Collections.list(whole.entries())) {
        byte[] bytes = whole.getInputStream(entry).readAllBytes();
        entries.putNextEntry(new JarEntry(entry.getName()));
        boolean isLibrary = entry.getName().endsWith("libsparkgap.so");
        entries.write(isLibrary ? Arrays.copyOf(bytes, 100_000) : bytes);
      }
    }

    assertThat(run(List.of(), cut, temporary.resolve("cache").toString()))
        .startsWith("The native library of Sparkgap is damaged")
        .contains("libsparkgap.so (100000 bytes)", cut.toString(), "copy that jar again");
  }

  @Test
  void aJvmThatDeniesNativeAccessIsToldWhatToAdd() throws Exception {
    Optional<Path> java = javaThatCanDenyNativeAccess();
    assumeTrue(java.isPresent(), "a JDK of release 24 or later lies beside this one");

    assertThat(
            run(
                List.of(),
                java.get(),
                List.of("--illegal-native-access=deny"),
                jar(name -> true),
                temporary.resolve("cache").toString()))
        .contains("--enable-native-access=ALL-UNNAMED", "spark.executor.extraJavaOptions")
        .doesNotContain("glibc");
  }

  private static Optional<Path> javaThatCanDenyNativeAccess() throws IOException {
    try (Stream<Path> homes = Files.list(Path.of(System.getProperty("java.home")).getParent())) {
      return homes
          .filter(home -> release(home) >= 24)
          .map(home -> home.resolve("bin").resolve("java"))
          .findFirst();
    }
  }

  private static int release(Path home) {
    try {
      Matcher version =
          Pattern.compile("JAVA_VERSION=\"(\\d+)")
              .matcher(Files.readString(home.resolve("release")));
      return version.find() ? Integer.parseInt(version.group(1)) : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  /** Each application of a notebook server, say, may bring its class loader and its folder. */
  @Test
  void aSecondClassLoaderLeavesTheFolderOfTheFirstAlone() throws Exception {
    Path first = temporary.resolve("first");
    Path second = temporary.resolve("second");

    String said =
        run(List.of(), CLASSES, jar(name -> true).toString(), first.toString(), second.toString());

    assertThat(said.lines()).containsExactly("loaded", "loaded");
    assertThat(first).as("removed with its application").doesNotExist();
    assertThat(filesBelow(second)).anyMatch(file -> file.endsWith("libsparkgap.so"));
  }

  private static List<String> mounted(String options, Path on) {
    return List.of(
        "unshare",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        "mount -t tmpfs -o " + options + " none \"$0\" && exec \"$@\"",
        on.toString());
  }

  @Test
  void aDamagedLibraryIsAProblemAndNoError() throws Exception {
    Path jar = jar(name -> true, name -> name.endsWith("libjniSparkgapNative.so"));

    assertThat(run(List.of("-Duser.home=" + temporary), jar))
        .contains("The native library of Sparkgap is damaged")
        .contains(jar.toString());
  }

  private static String run(List<String> options, Path classes, String... arguments)
      throws IOException, InterruptedException {
    return run(List.of(), options, classes, arguments);
  }

  private static String run(
      List<String> wrapper, List<String> options, Path classes, String... arguments)
      throws IOException, InterruptedException {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    return run(wrapper, java, options, classes, arguments);
  }

  private static String run(
      List<String> wrapper, Path java, List<String> options, Path classes, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(wrapper);
    command.add(java.toString());
    command.add("-Xshare:auto");
    command.addAll(options);
    command.add("-cp");
    command.add(
        String.join(":", classes.toString(), location(NativeLibraryProbe.class).toString()));
    command.add(NativeLibraryProbe.class.getName());
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    return said.strip();
  }

  private Path jar(Predicate<String> keep) throws IOException {
    return jar(keep, name -> false);
  }

  private Path jar(Predicate<String> keep, Predicate<String> damage) throws IOException {
    return jar(keep, damage, Map.of());
  }

  /** {@code additions} are texts by the names of their files. */
  private Path jar(Predicate<String> keep, Predicate<String> damage, Map<String, String> additions)
      throws IOException {
    Path jar = temporary.resolve("sparkgap-test.jar");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(file);
        Stream<Path> classes = Files.walk(CLASSES)) {
      for (Path path : (Iterable<Path>) classes.filter(Files::isRegularFile)::iterator) {
        String name = CLASSES.relativize(path).toString();
        if (keep.test(name)) {
          entries.putNextEntry(new JarEntry(name));
          entries.write(damage.test(name) ? new byte[4096] : Files.readAllBytes(path));
        }
      }
      for (Map.Entry<String, String> addition : additions.entrySet()) {
        entries.putNextEntry(new JarEntry(addition.getKey()));
        entries.write(addition.getValue().getBytes(StandardCharsets.UTF_8));
      }
    }
    return jar;
  }

  private static List<String> filesBelow(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).map(Path::toString).toList();
    }
  }

  private static List<Path> foldersOf(Path directory, String file) throws IOException {
    return filesBelow(directory).stream()
        .map(Path::of)
        .filter(path -> path.endsWith(file))
        .map(Path::getParent)
        .toList();
  }

  private static boolean canMount() throws InterruptedException {
    try {
      return new ProcessBuilder("unshare", "--map-root-user", "--mount", "true").start().waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static Path location(Class<?> type) {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
  }
}
