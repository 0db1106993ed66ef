package io.sparkgap;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.bootstrap.WorldReady;
import io.sparkgap.support.SparkApplication;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;

/** What the parts of the contract have at hand. */
interface OnSpark {
  int PES = 4;

  SparkApplication application();

  /** What PEs have reported, with the PE's number in front; more may come at any time. */
  List<String> reports();

  default JavaSparkContext sc() {
    return application().sc();
  }

  default WorldReady lastWorld() {
    List<WorldReady> worlds = application().worlds();
    return worlds.get(worlds.size() - 1);
  }

  static int sumOverAll(Communicator communicator, int mine) {
    int[] sum = {mine};
    communicator.allReduce(sum);
    return sum[0];
  }

  /** Two ints, in place. */
  static void sumTwice(Communicator communicator, SymmetricBuffer buffer) {
    communicator.allReduce(buffer, buffer, 2, DataType.INT32, ReduceOp.SUM);
    communicator.allReduce(buffer, buffer, 2, DataType.INT32, ReduceOp.SUM);
  }
}
