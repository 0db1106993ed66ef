package io.sparkgap;

import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import scala.collection.Seq;

/**
 * What {@link WholeStage} overrides, with the types that it has in Spark for Scala 2.12: javac adds
 * bridges from these to those of 2.13, so that one class overrides both.
 */
interface BothScalas {
  Seq<Dependency<?>> getDependencies();

  Seq<String> getPreferredLocations(Partition partition);
}
