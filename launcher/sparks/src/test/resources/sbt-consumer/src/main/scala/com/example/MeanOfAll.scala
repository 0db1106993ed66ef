package com.example

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkConf, SparkContext}

import io.sparkgap.Sparkgap
import io.sparkgap.api.Communicator

object MeanOfAll {
  def main(args: Array[String]): Unit = {
    val spark = new SparkContext(new SparkConf().setAppName("mean"))
    try {
      val numbers = spark.parallelize(Seq(1.0, 2.0, 3.0, 10.0), 4)
      val means = Sparkgap.run(numbers, (communicator: Communicator, rows: java.util.Iterator[Double]) => {
        val mine = rows.asScala.toArray
        val sums = Array(mine.sum, mine.length.toDouble)
        communicator.allReduce(sums)
        Iterator(sums(0) / sums(1)).asJava
      })
      println(means)
    } finally {
      spark.stop()
    }
  }
}
