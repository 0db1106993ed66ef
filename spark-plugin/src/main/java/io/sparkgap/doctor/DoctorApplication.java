package io.sparkgap.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/**
 * What {@code sparkgap doctor --master} submits: a task for each PE, all at once, as worlds have
 * them, each of which looks at its executor. Writes one JSON object on standard output. Sparkgap's
 * plugin is left out, since it ends an application where it cannot work, and this is to say why.
 *
 * <p>Argument: how many PEs.
 */
public final class DoctorApplication {
  private static final String PLUGINS = "spark.plugins";

  /** Nobody would have registered what the tasks return. */
  private static final String REGISTRATION = "spark.kryo.registrationRequired";

  private static final String PLUGIN = "io.sparkgap.SparkgapPlugin";

  /** Of this process: several tasks of one executor find the same. */
  private static List<Map<String, String>> found;

  private DoctorApplication() {}

  /** One executor, and what was found in it. */
  public record Executor(String id, String host, List<Map<String, String>> findings)
      implements Serializable {}

  public static void main(String[] args) throws JsonProcessingException {
    int pes = Integer.parseInt(args[0]);
    SparkConf conf = new SparkConf();
    Map<String, String> settings = new HashMap<>();
    for (Tuple2<String, String> pair : conf.getAll()) {
      settings.put(pair._1(), pair._2());
    }
    conf.set(
        PLUGINS,
        Arrays.stream(conf.get(PLUGINS, "").split(",", -1))
            .filter(plugin -> !plugin.strip().equals(PLUGIN))
            .collect(Collectors.joining(",")));
    conf.set(REGISTRATION, "false");
    try (JavaSparkContext sc = new JavaSparkContext(conf)) {
      Map<String, Executor> executors = new TreeMap<>();
      for (Executor executor : atOnce(sc, pes).mapPartitions(rows -> look(settings)).collect()) {
        executors.put(executor.id, executor);
      }
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("application", sc.sc().applicationId());
      report.put("executors", new ArrayList<>(executors.values()));
      System.out.println(Doctor.MARK + new ObjectMapper().writeValueAsString(report) + "}");
    }
  }

  private static JavaRDD<Integer> atOnce(JavaSparkContext sc, int pes) {
    JavaRDD<Integer> rows = sc.parallelize(Collections.nCopies(pes, 0), pes);
    return new JavaRDD<>(
        rows.rdd().barrier().mapPartitions(new Identity(), true, rows.classTag()), rows.classTag());
  }

  /**
   * @param settings of the application, as they were before this class changed any
   */
  private static java.util.Iterator<Executor> look(Map<String, String> settings) {
    SparkEnv env = SparkEnv.get();
    String host = env.blockManager().blockManagerId().host();
    synchronized (DoctorApplication.class) {
      if (found == null) {
        File[] folders = env.blockManager().diskBlockManager().localDirs();
        Path cache = folders[0].toPath().resolve("sparkgap-native");
        found = new ArrayList<>(Doctor.examine(settings, cache, host));
      }
      return List.of(new Executor(env.executorId(), host, found)).iterator();
    }
  }

  /** A barrier stage begins where Spark's Scala API maps partitions. */
  private static final class Identity
      extends AbstractFunction1<Iterator<Integer>, Iterator<Integer>> implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public Iterator<Integer> apply(Iterator<Integer> rows) {
      return rows;
    }
  }
}
