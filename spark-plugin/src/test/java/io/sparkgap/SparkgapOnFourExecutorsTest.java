package io.sparkgap;

import io.sparkgap.support.SparkApplication;
import org.apache.spark.SparkConf;

class SparkgapOnFourExecutorsTest extends SparkgapContract {
  @Override
  SparkConf conf() {
    return SparkApplication.cluster(4, 1);
  }
}
