package io.sparkgap.examples

import java.util.{Iterator => JavaIterator}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.rdd.RDD

import io.sparkgap.Sparkgap
import io.sparkgap.api.Communicator

/** From Scala: a stage that needs to know something of all rows before it can change its own.
  *
  * To standardize numbers takes their mean and deviation first. In Spark alone that is a job of its
  * own; here the PEs ask each other in the middle of one, with an all-reduce of three numbers.
  */
object HelloScala {

  /** Shifts and scales the numbers so that all of them have mean 0 and standard deviation 1. */
  def standardize(numbers: RDD[Double]): Seq[Double] =
    Sparkgap.run(numbers, (communicator: Communicator, rows: JavaIterator[Double]) => {
      val mine = rows.asScala.toArray
      val total = Array(mine.length.toDouble, mine.sum, mine.map(x => x * x).sum)
      communicator.allReduce(total)
      val mean = total(1) / total(0)
      val deviation = math.sqrt(total(2) / total(0) - mean * mean)
      mine.iterator.map(x => (x - mean) / deviation).asJava
    }).asScala.toSeq

  /** So many PEs and no rows: each hears the numbers of all. */
  def neighbours(spark: SparkContext, pes: Int): Seq[String] =
    Sparkgap.run(spark, pes, (communicator: Communicator) => {
      val numbers = communicator.allGather(Array(communicator.pe()))
      s"PE ${communicator.pe()} is beside PE ${numbers((communicator.pe() + 1) % numbers.length)}"
    }).asScala.toSeq

  def main(args: Array[String]): Unit = {
    val spark = new SparkContext(new SparkConf().setAppName("HelloScala"))
    try {
      val numbers = spark.parallelize(1 to 1000).map(_.toDouble)
      val standard = standardize(numbers)
      neighbours(spark, numbers.getNumPartitions).foreach(println)
      println(f"1 to 1000 became ${standard.head}%.4f to ${standard.last}%.4f")
    } finally {
      spark.stop()
    }
  }
}
