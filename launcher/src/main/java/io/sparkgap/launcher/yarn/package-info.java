/**
 * YARN as a cluster manager, by Hadoop's own client from the jars of the Spark that is used.
 *
 * <p>Loaded by name ({@link io.sparkgap.launcher.yarn.YarnProvider}), never referred to by the rest
 * of the launcher: without Hadoop's jars these classes cannot be linked.
 */
package io.sparkgap.launcher.yarn;
