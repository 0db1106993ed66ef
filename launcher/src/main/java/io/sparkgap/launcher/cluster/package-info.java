/**
 * What {@code sparkgap} wants from a cluster manager, whichever it is: whether a request fits, how
 * an application gets on, its logs, its end. {@code io.sparkgap.launcher.yarn} and {@code
 * io.sparkgap.launcher.standalone} do it.
 *
 * <p>Everything here is plain data and one interface. Who implements {@link
 * io.sparkgap.launcher.cluster.Cluster} asks the cluster and returns; waiting, showing and deciding
 * on an exit code is done once, by the commands.
 */
package io.sparkgap.launcher.cluster;
