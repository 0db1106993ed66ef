package io.sparkgap.ui;

import io.sparkgap.bootstrap.CallCount;
import java.util.List;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * A PE has left its world, and what its calls in this stage have cost: an event of Spark's, also in
 * its event log.
 */
public record PeCounted(int stage, int attempt, int pe, List<CallCount> counts)
    implements SparkListenerEvent {}
