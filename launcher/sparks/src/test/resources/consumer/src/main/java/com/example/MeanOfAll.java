package com.example;

import io.sparkgap.Sparkgap;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

public class MeanOfAll {
  public static void main(String[] args) {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("mean"))) {
      List<Double> means =
          Sparkgap.run(
              spark.parallelize(List.of(1.0, 2.0, 3.0, 10.0), 4),
              (communicator, rows) -> {
                double[] sums = {0, 0};
                while (rows.hasNext()) {
                  sums[0] += rows.next();
                  sums[1]++;
                }
                communicator.allReduce(sums);
                return List.of(sums[0] / sums[1]).iterator();
              });
      System.out.println(means);
    }
  }
}
