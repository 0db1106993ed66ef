package io.sparkgap.bootstrap;

import java.util.function.BooleanSupplier;

/**
 * A task of a barrier stage, as far as the bootstrap is concerned.
 *
 * @param tasks how many tasks the stage has
 * @param killed whether Spark wants the task to end; any thread may ask
 */
public record BarrierTask(StageAttempt stage, int partition, int tasks, BooleanSupplier killed) {}
