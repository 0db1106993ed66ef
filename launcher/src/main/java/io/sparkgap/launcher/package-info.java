/**
 * The {@code sparkgap} command: {@code bin/sparkgap} builds what is missing and starts it.
 *
 * <p>It never runs Spark in its own process: it starts Spark's, reads what they write and shows it.
 */
package io.sparkgap.launcher;
