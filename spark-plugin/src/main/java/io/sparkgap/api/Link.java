package io.sparkgap.api;

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
  TCP
}
