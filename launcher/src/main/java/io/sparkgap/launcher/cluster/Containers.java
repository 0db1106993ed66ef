package io.sparkgap.launcher.cluster;

/**
 * Containers of one size.
 *
 * @param count how many
 * @param cores of each
 * @param memoryMib of each, with everything that Spark adds to what the user names: overhead,
 *     off-heap and Python memory
 * @param gpus of each; 0 for none
 */
public record Containers(int count, int cores, long memoryMib, int gpus) {}
