package io.sparkgap.launcher.cluster;

/**
 * Which lines of an application's logs.
 *
 * @param container only of this one (an executor's number, {@code driver}, or the cluster manager's
 *     name for it); empty for all
 * @param last how many lines of each file, from its end; {@link Integer#MAX_VALUE} for all
 */
public record LogRequest(String container, int last) {}
