package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** How two PEs reach each other. */
public enum Link {
  /** GPU to GPU over NVLink. */
  NVLINK,
  /** GPU to GPU over PCI Express. */
  PCIE,
  /** Memory that both have: of one node, or of one GPU. */
  SHM,
  /** InfiniBand or RoCE between nodes. */
  RDMA,
  /** Sockets between nodes. */
  TCP;

  /** By the native library's number. */
  public static Link of(int code) {
    return switch (code) {
      case SparkgapNative.SPARKGAP_LINK_NVLINK -> NVLINK;
      case SparkgapNative.SPARKGAP_LINK_PCIE -> PCIE;
      case SparkgapNative.SPARKGAP_LINK_TCP -> TCP;
      case SparkgapNative.SPARKGAP_LINK_RDMA -> RDMA;
      default -> SHM;
    };
  }
}
