/**
 * Jobs that are read as documentation, one idea each.
 *
 * <ul>
 *   <li>{@link io.sparkgap.examples.HelloPut}: one-sided communication, a letter to the neighbour.
 *   <li>{@link io.sparkgap.examples.TrainDigits}: data-parallel training on real data, one
 *       all-reduce a step; on GPUs with kernels of its own.
 *   <li>{@link io.sparkgap.examples.CompareTreeAggregate}: the same training by Spark's {@code
 *       treeAggregate} and by a communicator.
 *   <li>{@link io.sparkgap.examples.LatencySweep} and {@link
 *       io.sparkgap.examples.TreeAggregateSweep}: what calls take, by size.
 *   <li>{@link io.sparkgap.examples.OneShotOrRing}: which algorithm of an all-reduce is the fastest
 *       at which size.
 *   <li>{@link io.sparkgap.examples.DecodeStep} and {@link io.sparkgap.examples.FusedProduct}:
 *       kernels that exchange data themselves.
 *   <li>{@link io.sparkgap.examples.Demo}: the first three in a row, as {@code
 *       launcher/bin/sparkgap demo} shows them.
 * </ul>
 *
 * <p>Each has a {@code main} for {@code spark-submit} and a method that tests and other programs
 * call with a context of their own.
 */
package io.sparkgap.examples;
