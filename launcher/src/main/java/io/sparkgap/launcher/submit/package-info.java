/**
 * {@code sparkgap submit} before anything runs: which of Spark's settings a request for so many PEs
 * comes to, and which command line. Nothing here starts a process or asks a cluster.
 */
package io.sparkgap.launcher.submit;
