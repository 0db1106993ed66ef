package io.sparkgap.contract;

import static io.sparkgap.contract.Contract.require;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Buffer;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ForeignBuffer;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.openblas.global.openblas;

/**
 * An application that brings a JavaCPP of its own, whichever, and a preset of it, and has the two
 * work on the same memory. Prints which JavaCPP it was.
 */
public final class BesideJavaCpp {
  private static final int PES = 2;
  private static final int N = 1000;

  private BesideJavaCpp() {}

  public static void main(String[] arguments) {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("JavaCPP"))) {
      List<String> versions = Sparkgap.run(spark, PES, BesideJavaCpp::check);
      require(Set.copyOf(versions).size() == 1, "versions: " + versions);
      System.out.println("beside JavaCPP " + versions.get(0));
    }
  }

  private static String check(Communicator pe) throws IOException {
    try (FloatPointer theirs = new FloatPointer(N)) {
      for (int i = 0; i < N; i++) {
        theirs.put(i, pe.pe() + 1);
      }
      SymmetricBuffer ours = pe.allocate(DataType.FLOAT32, N);
      Buffer in = ForeignBuffer.of(theirs.address(), (long) N * Float.BYTES, theirs);
      pe.allReduce(in, ours, N, DataType.FLOAT32, ReduceOp.SUM); // 1 + 2

      Floats sums = new Floats(ours);
      openblas.cblas_sscal(N, 0.5f, sums, 1);
      float product = openblas.cblas_sdot(N, sums, 1, theirs, 1);
      require(product == N * 1.5f * (pe.pe() + 1), "the product on " + pe + " is " + product);

      float[] halves = new float[1];
      ours.read((N - 1L) * Float.BYTES, halves, 0, 1);
      require(halves[0] == 1.5f, "what the preset wrote on " + pe + " is " + halves[0]);
    }
    return Loader.getVersion("org.bytedeco", "javacpp");
  }

  /** Sparkgap's memory as their JavaCPP takes it; frees nothing. */
  private static final class Floats extends FloatPointer {
    Floats(Buffer buffer) {
      super((Pointer) null);
      address = buffer.address();
      capacity = limit = buffer.bytes() / Float.BYTES;
    }
  }
}
