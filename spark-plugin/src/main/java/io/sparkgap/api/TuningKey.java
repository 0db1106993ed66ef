package io.sparkgap.api;

/**
 * What a world is, as far as tuning tables are made for it: the {@code key} of a table for worlds
 * like this one (docs/tuning.md).
 *
 * @param provider as tables name it
 * @param device of GPUs their name, on one host the CPU's; empty where PEs may have several
 * @param links the slowest
 * @param pes how many
 * @param hosts how many nodes
 * @param shared whether there are more PEs than CPUs, or than GPUs
 * @param blocks of kernels; 0 where there are none
 * @param nvshmem its release; empty if it is not in use
 * @param nccl likewise
 */
public record TuningKey(
    String provider,
    String device,
    Link links,
    int pes,
    int hosts,
    boolean shared,
    int blocks,
    String nvshmem,
    String nccl) {}
