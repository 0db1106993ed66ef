/**
 * What a PE's code uses: the {@link io.sparkgap.api.Communicator}, the memory it works on ({@link
 * io.sparkgap.api.SymmetricBuffer}, {@link io.sparkgap.api.ForeignBuffer}) and the words of its
 * calls.
 *
 * <p>Units: a {@code count} is a number of elements of a {@link io.sparkgap.api.DataType}; {@code
 * bytes} and {@code offset} are bytes. Zero is a valid count everywhere. PEs are numbered from 0.
 *
 * <p>Errors: a call that was refused before anything was sent throws an {@link
 * IllegalArgumentException}, {@link NullPointerException}, {@link IllegalStateException} (closed,
 * or no part of a step) or {@link java.util.ConcurrentModificationException} (a second thread), and
 * the world is still good. Anything that involves peers throws a {@link
 * io.sparkgap.api.SparkgapException}; after it the world is aborted unless the exception's class
 * says otherwise. Each message names the call with its arguments, the PE, the world's epoch and
 * what helps.
 *
 * <p>Nothing here knows Spark.
 */
package io.sparkgap.api;
