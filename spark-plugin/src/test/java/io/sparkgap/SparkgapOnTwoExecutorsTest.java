package io.sparkgap;

import io.sparkgap.support.SparkApplication;
import org.apache.spark.SparkConf;

/** Two PEs in each executor: of one process, and of two. */
class SparkgapOnTwoExecutorsTest extends SparkgapContract {
  @Override
  SparkConf conf() {
    return SparkApplication.cluster(2, 2);
  }
}
