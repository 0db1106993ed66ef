package io.sparkgap.doctor;

import io.sparkgap.bootstrap.NativeDevices;
import io.sparkgap.bootstrap.Offer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * GPUs, their driver, how they reach each other, and the libraries that worlds on them need. What
 * NVIDIA's own tool says of the machine, and what Sparkgap's providers say of this process.
 */
final class GpuCheck implements Check {
  private static final String GPUS = "GPUs";
  private static final String DRIVER = "Driver, CUDA";
  private static final String PEERS = "Peer access";
  private static final String LINKS = "GPU links";
  private static final String MPS = "MPS";
  private static final List<String> PROVIDERS = List.of(Offer.NVSHMEM, Offer.NCCL);

  private static final String QUERY =
      "--query-gpu=index,name,memory.total,driver_version,compute_mode,mig.mode.current";

  private static final Pattern CUDA = Pattern.compile("CUDA Version\\s*:\\s*([\\d.]+)");

  /** As nvidia-smi prints a row of a matrix: the GPU's name, then a word for each GPU. */
  private static final Pattern ROW = Pattern.compile("\\s*GPU(\\d+)\\s+(.*)");

  /** One GPU, as nvidia-smi lists it. */
  private record Gpu(
      String index, String name, String memory, String driver, String computeMode, String mig) {}

  private final Settings settings;
  private final NativeCode code;

  GpuCheck(Settings settings, NativeCode code) {
    this.settings = settings;
    this.code = code;
  }

  @Override
  public String topic() {
    return GPUS;
  }

  @Override
  public List<Finding> find() throws Exception {
    // Each takes up to a second where nothing keeps the driver awake.
    try (Tool listing = Tool.start("nvidia-smi", QUERY, "--format=csv,noheader");
        Tool version = Tool.start("nvidia-smi", "--version");
        Tool reads = Tool.start("nvidia-smi", "topo", "-p2p", "r");
        Tool nvlinks = Tool.start("nvidia-smi", "topo", "-p2p", "n")) {
      return find(listing, version, reads, nvlinks);
    }
  }

  /** What they say; all null if there is no such tool. */
  private List<Finding> find(Tool listing, Tool version, Tool reads, Tool nvlinks)
      throws InterruptedException {
    List<Finding> findings = new ArrayList<>();
    List<Gpu> gpus = List.of();
    if (listing == null) {
      findings.add(withoutTool());
    } else if (listing.result().isGood()) {
      gpus = listing.result().lines().stream().map(GpuCheck::gpu).toList();
    } else {
      findings.add(
          Finding.error(
              GPUS,
              "nvidia-smi fails: " + listing.result().lastLine(),
              "mend the driver (`dmesg | grep -i nvrm` says more), or set "
                  + Settings.PROVIDER
                  + "=host"));
    }
    if (!gpus.isEmpty()) {
      findings.add(ofGpus(gpus));
      findings.add(versions(gpus.get(0), version.result()));
    }
    if (gpus.size() > 1) {
      findings.add(peers(gpus.size(), matrix(reads.result())));
      findings.add(links(gpus.size(), matrix(nvlinks.result())));
    }
    for (String provider : PROVIDERS) {
      findings.add(ofProvider(provider, !gpus.isEmpty()));
    }
    findings.add(mps(!gpus.isEmpty()));
    return findings;
  }

  private Finding withoutTool() {
    if (Files.exists(Path.of("/proc/driver/nvidia/version"))
        || Files.exists(Path.of("/dev/nvidiactl"))) {
      return Finding.warning(
          GPUS,
          "there is a driver of NVIDIA, but no nvidia-smi: what GPUs there are, and how they are"
              + " linked, cannot be seen",
          "give the container NVIDIA_DRIVER_CAPABILITIES=compute,utility, or put nvidia-smi on the"
              + " PATH");
    }
    for (String provider : PROVIDERS) {
      if (settings.wants(provider)) {
        return Finding.error(
            GPUS,
            "none, but " + Settings.PROVIDER + " is " + provider,
            "set it to auto or host, or run where GPUs are");
      }
    }
    return Finding.ok(GPUS, "none; worlds are in host memory");
  }

  private static Gpu gpu(String line) {
    String[] fields = (line + ",,,,,").split(",", -1);
    return new Gpu(
        fields[0].strip(),
        fields[1].strip(),
        fields[2].strip(),
        fields[3].strip(),
        fields[4].strip(),
        fields[5].strip());
  }

  private static Finding ofGpus(List<Gpu> gpus) {
    String names =
        gpus.stream()
            .collect(
                Collectors.groupingBy(gpu -> gpu.name + " of " + gpu.memory, Collectors.counting()))
            .entrySet()
            .stream()
            .map(of -> of.getValue() + " x " + of.getKey())
            .sorted()
            .collect(Collectors.joining(", "));
    return state(gpus, names).alike(names);
  }

  private static Finding versions(Gpu gpu, Tool.Result told) {
    Matcher cuda = CUDA.matcher(String.join("\n", told.lines()));
    String text = "driver " + gpu.driver + (cuda.find() ? ", CUDA up to " + cuda.group(1) : "");
    return Finding.ok(DRIVER, text).alike(text);
  }

  private static Finding state(List<Gpu> gpus, String names) {
    for (Gpu gpu : gpus) {
      if (gpu.computeMode.equals("Prohibited")) {
        return Finding.error(
            GPUS,
            names + "; GPU " + gpu.index + " is in compute mode Prohibited",
            "nvidia-smi -i " + gpu.index + " -c DEFAULT");
      }
      if (gpu.mig.equals("Enabled")) {
        return Finding.warning(
            GPUS,
            names + "; GPU " + gpu.index + " is split by MIG, whose parts do not reach each other",
            "nvidia-smi -i " + gpu.index + " -mig 0, for worlds of several GPUs");
      }
    }
    return Finding.ok(GPUS, names);
  }

  private static Finding peers(int gpus, List<List<String>> matrix) {
    if (matrix.size() != gpus) {
      return Finding.ok(PEERS, "nvidia-smi does not say");
    }
    Set<String> apart = pairs(matrix, false);
    if (apart.isEmpty()) {
      return Finding.ok(PEERS, "each of " + gpus + " reads the others' memory");
    }
    return Finding.warning(
        PEERS,
        "not between GPUs " + some(apart),
        "worlds of these are of provider nccl or host; in a virtual machine or with the IOMMU on,"
            + " `nvidia-smi topo -p2p r` says what stands in the way");
  }

  private static Finding links(int gpus, List<List<String>> matrix) {
    if (matrix.size() != gpus) {
      return Finding.ok(LINKS, "nvidia-smi does not say");
    }
    Set<String> linked = pairs(matrix, true);
    int all = gpus * (gpus - 1) / 2;
    String text =
        linked.isEmpty()
            ? "PCI Express"
            : linked.size() == all ? "NVLink" : "NVLink between GPUs " + some(linked);
    return Finding.ok(LINKS, text).alike(text);
  }

  /** Of each GPU what it has with the others, {@code OK} if it has that ability. */
  private static List<List<String>> matrix(Tool.Result said) {
    List<List<String>> rows = new ArrayList<>();
    for (String line : said.lines()) {
      Matcher row = ROW.matcher(line.replaceAll("\033\\[[0-9;]*m", ""));
      if (row.matches() && !row.group(2).startsWith("GPU")) {
        rows.add(List.of(row.group(2).strip().split("\\s+", -1)));
      }
    }
    return said.isGood() ? rows : List.of();
  }

  private static Set<String> pairs(List<List<String>> matrix, boolean good) {
    Set<String> pairs = new TreeSet<>();
    for (int a = 0; a < matrix.size(); a++) {
      for (int b = a + 1; b < Math.min(matrix.size(), matrix.get(a).size()); b++) {
        if (matrix.get(a).get(b).equals("OK") == good) {
          pairs.add(a + "-" + b);
        }
      }
    }
    return pairs;
  }

  private static String some(Set<String> pairs) {
    String first = pairs.stream().limit(6).collect(Collectors.joining(", "));
    return pairs.size() > 6 ? first + " and " + (pairs.size() - 6) + " more pairs" : first;
  }

  private Finding ofProvider(String provider, boolean hasGpus) {
    String name = provider.equals(Offer.NCCL) ? "NCCL" : "NVSHMEM";
    String library = settings.library(provider);
    if (!library.isEmpty() && !Files.exists(Path.of(library))) {
      return Finding.error(
          name,
          "spark.sparkgap.%s.library is %s, which is not there".formatted(provider, library),
          "name the library's file where executors run, or leave the setting away");
    }
    boolean wanted = settings.wants(provider) || !library.isEmpty();
    if (!hasGpus && !wanted) {
      return Finding.ok(name, "not looked for: there is no GPU");
    }
    if (code.problem().isPresent()) {
      return Finding.warning(name, "cannot be looked for without Sparkgap's native library", "");
    }
    Offer offer = NativeDevices.probe(provider, library);
    if (offer.usable()) {
      return Finding.ok(name, offer.detail()).alike(offer.detail());
    }
    String fix =
        "what is said there, or "
            + Settings.PROVIDER
            + "=host; docs/gpu.md says where it is looked for";
    return settings.wants(provider)
        ? Finding.error(name, offer.detail(), fix)
        : Finding.warning(name, offer.detail(), fix);
  }

  private Finding mps(boolean hasGpus) {
    String named = System.getenv().getOrDefault("CUDA_MPS_PIPE_DIRECTORY", "");
    Path pipes = Path.of(named.isEmpty() ? "/tmp/nvidia-mps" : named);
    boolean runs = Files.exists(pipes.resolve("control"));
    if (runs) {
      return Finding.ok(MPS, "runs, in " + pipes);
    }
    if (settings.isDeviceShared() && hasGpus) {
      return Finding.error(
          MPS,
          "does not run, but "
              + Settings.DEVICE_SHARED
              + " is true: PEs on one GPU would take turns of milliseconds",
          "nvidia-cuda-mps-control -d, before the executors start");
    }
    return Finding.ok(MPS, "does not run; only PEs that share a GPU need it");
  }
}
