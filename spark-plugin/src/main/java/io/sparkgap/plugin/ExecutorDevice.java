package io.sparkgap.plugin;

import io.sparkgap.bootstrap.Capabilities;
import io.sparkgap.bootstrap.Device;
import io.sparkgap.bootstrap.NativeDevices;
import io.sparkgap.bootstrap.NativeDevices.UnusableDeviceException;
import io.sparkgap.bootstrap.Offer;
import io.sparkgap.bootstrap.Reach;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.resource.ResourceInformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what an executor can make worlds with: whether Spark gave it a GPU, whether that can be
 * used, and which of the providers that the application allows are there.
 */
final class ExecutorDevice {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorDevice.class);

  /** Spark's name of the resource. */
  private static final String RESOURCE = "gpu";

  private static final String AUTO = "auto";

  private final String wanted;
  private final SparkgapConf conf;
  private final Reach reach;

  /** Of an executor that others reach like that. */
  ExecutorDevice(SparkgapConf conf, Reach reach) {
    this.reach = reach;
    this.wanted = conf.get(SparkgapConf.PROVIDER);
    this.conf = conf;
  }

  /**
   * Opens the GPU that Spark assigned, unless the application wants host memory; most of a second.
   *
   * @param resources of the executor, as Spark gives them
   * @throws IllegalStateException if a GPU provider is wanted that cannot serve here, with what was
   *     looked for and what helps
   */
  Capabilities find(Map<String, ResourceInformation> resources) {
    if (wanted.equals(Offer.HOST)) {
      return Capabilities.ofHost(reach);
    }
    Device device;
    try {
      device = NativeDevices.open(ordinal(resources));
    } catch (UnusableDeviceException | NoDeviceException e) {
      return without(e.getMessage());
    }
    LOG.info("Opened {}", device);
    List<Offer> offers = new ArrayList<>();
    for (String provider : wanted.equals(AUTO) ? SparkgapConf.ON_GPU : List.of(wanted)) {
      Offer offer = NativeDevices.probe(provider, library(provider));
      LOG.info(
          "{} {}: {}", provider, offer.usable() ? "can serve" : "cannot serve", offer.detail());
      offers.add(offer);
    }
    if (wanted.equals(AUTO)) {
      offers.add(Offer.OF_HOST);
    } else if (!offers.get(0).usable()) {
      throw refusal(offers.get(0).detail());
    }
    return new Capabilities(device, reach, offers);
  }

  /** No GPU to use: with auto the next provider serves. */
  private Capabilities without(String why) {
    if (!wanted.equals(AUTO)) {
      throw refusal(why);
    }
    LOG.info("No GPU is used here: {}", why);
    List<Offer> offers = new ArrayList<>();
    SparkgapConf.ON_GPU.forEach(provider -> offers.add(Offer.not(provider, why)));
    offers.add(Offer.OF_HOST);
    return new Capabilities(Device.HOST_MEMORY, reach, offers);
  }

  private IllegalStateException refusal(String why) {
    String remedy =
        why.contains(SparkgapConf.PROVIDER.key())
            ? ""
            : " Or set " + SparkgapConf.PROVIDER + " to auto or host, which need none of it.";
    return new IllegalStateException(
        "%s is %s, but %s%s%s"
            .formatted(SparkgapConf.PROVIDER, wanted, why, why.endsWith(".") ? "" : ".", remedy));
  }

  private String library(String provider) {
    return conf.get(
        provider.equals(Offer.NVSHMEM) ? SparkgapConf.NVSHMEM_LIBRARY : SparkgapConf.NCCL_LIBRARY);
  }

  /** CUDA's number of the first GPU that Spark assigned to the executor. */
  private static int ordinal(Map<String, ResourceInformation> resources) throws NoDeviceException {
    ResourceInformation gpus = resources.get(RESOURCE);
    if (gpus == null || gpus.addresses().length == 0) {
      throw new NoDeviceException(
          "Spark gave this executor no GPU: it has no resource \"gpu\". Set"
              + " spark.executor.resource.gpu.amount=1, spark.task.resource.gpu.amount=1 and,"
              + " unless the cluster manager names the GPUs,"
              + " spark.executor.resource.gpu.discoveryScript (Sparkgap has one,"
              + " conf/discover-gpu.sh)");
    }
    String[] addresses = gpus.addresses();
    if (addresses.length > 1) {
      LOG.warn(
          "Spark gave this executor the GPUs {}, of which a PE uses the first. With"
              + " spark.executor.resource.gpu.amount=1 each GPU gets an executor",
          String.join(", ", addresses));
    }
    String address = addresses[0].strip();
    if (!address.matches("\\d{1,4}")) {
      throw new NoDeviceException(
          "Spark gave this executor the GPU \""
              + address
              + "\", which is no number of CUDA's. The discovery script"
              + " (spark.executor.resource.gpu.discoveryScript) must print numbers, as Sparkgap's"
              + " conf/discover-gpu.sh does");
    }
    return Integer.parseInt(address);
  }

  private static final class NoDeviceException extends Exception {
    private static final long serialVersionUID = 1L;

    NoDeviceException(String message) {
      super(message);
    }
  }
}
