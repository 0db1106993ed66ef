/**
 * How the tasks of a stage become the PEs of a world, and how a world ends: rendezvous on the
 * driver, ends of worlds in executors, messages between them. Knows nothing of Spark but its Kryo.
 * Not for users.
 */
package io.sparkgap.bootstrap;
