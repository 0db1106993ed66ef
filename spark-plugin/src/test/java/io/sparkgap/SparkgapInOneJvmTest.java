package io.sparkgap;

import io.sparkgap.support.SparkApplication;
import org.apache.spark.SparkConf;

class SparkgapInOneJvmTest extends SparkgapContract {
  @Override
  SparkConf conf() {
    return SparkApplication.local(4);
  }
}
