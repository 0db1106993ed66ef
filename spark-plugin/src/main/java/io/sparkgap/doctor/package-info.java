/**
 * What {@code sparkgap doctor} finds out about a process's surroundings: on the machine where it is
 * typed, and in executors. Needs nothing of Spark, but for the configuration.
 */
package io.sparkgap.doctor;
