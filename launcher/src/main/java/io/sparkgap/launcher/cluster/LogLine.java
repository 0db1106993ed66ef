package io.sparkgap.launcher.cluster;

/**
 * A line of a log.
 *
 * @param source which container and file, for example {@code executor 2 on node7: stderr}; the same
 *     for all lines of one file
 * @param text without its line break
 */
public record LogLine(String source, String text) {}
