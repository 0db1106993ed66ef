package io.sparkgap.plugin;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.TaskResourceRequest;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorExcluded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerExecutorUnexcluded;
import org.apache.spark.scheduler.SparkListenerNodeExcluded;
import org.apache.spark.scheduler.SparkListenerNodeUnexcluded;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.cluster.ExecutorInfo;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * The executors of the application as Spark tells of them: where they are, what they run, and which
 * of them Spark gives no tasks because tasks have failed there. Spark tells a moment late.
 *
 * <p>Thread-safe.
 */
public final class ExecutorTable extends SparkListener {
  /** Stages that ended long ago are forgotten; their tasks have ended long before. */
  private static final int MAX_STAGES = 1000;

  private final SparkContext sc;
  private final Map<String, ExecutorInfo> executors = new TreeMap<>();
  private final Set<String> excludedExecutors = new HashSet<>();
  private final Set<String> excludedHosts = new HashSet<>();

  /** Of each executor, the stage of each of its tasks. */
  private final Map<String, Map<Long, Integer>> running = new TreeMap<>();

  private final Map<Integer, String> stageNames =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, String> eldest) {
          return size() > MAX_STAGES;
        }
      };

  ExecutorTable(SparkContext sc) {
    this.sc = sc;
  }

  /**
   * An executor that may be given tasks.
   *
   * @param slots how many tasks it can run at once
   * @param free how many of those run nothing
   */
  public record Place(String executorId, String host, int slots, int free) {}

  /** Where tasks of this profile can run, by executor. */
  public synchronized List<Place> places(ResourceProfile profile) {
    List<Place> places = new ArrayList<>();
    Map<String, Integer> tasks = tasks();
    executors.forEach(
        (id, info) -> {
          if (!isExcluded(id, info)) {
            int slots = slots(info, profile);
            int free = Math.max(0, slots - tasks.getOrDefault(id, 0));
            places.add(new Place(id, info.executorHost(), slots, free));
          }
        });
    return places;
  }

  /** How many tasks each executor runs, from the scheduler itself, which is never late. */
  private Map<String, Integer> tasks() {
    Map<String, Integer> tasks = new TreeMap<>();
    if (sc.taskScheduler() instanceof TaskSchedulerImpl scheduler) {
      Iterator<Tuple2<String, Object>> all = scheduler.runningTasksByExecutors().iterator();
      while (all.hasNext()) {
        Tuple2<String, Object> each = all.next();
        tasks.put(each._1(), ((Number) each._2()).intValue());
      }
    } else {
      running.forEach((executor, stages) -> tasks.put(executor, stages.size()));
    }
    return tasks;
  }

  /** How many tasks the executors that get none could run at once. */
  synchronized int excludedSlots(ResourceProfile profile) {
    return executors.entrySet().stream()
        .filter(each -> isExcluded(each.getKey(), each.getValue()))
        .mapToInt(each -> slots(each.getValue(), profile))
        .sum();
  }

  /** For messages: "executor 1 on node-a" each. */
  synchronized List<String> excluded() {
    return executors.entrySet().stream()
        .filter(each -> isExcluded(each.getKey(), each.getValue()))
        .map(each -> "executor " + each.getKey() + " on " + each.getValue().executorHost())
        .toList();
  }

  /** Whether one host could run so many tasks at once. */
  synchronized boolean anyHostHolds(int tasks, ResourceProfile profile) {
    Map<String, Integer> slotsOfHost = new TreeMap<>();
    places(profile).forEach(place -> slotsOfHost.merge(place.host(), place.slots(), Integer::sum));
    return slotsOfHost.values().stream().anyMatch(slots -> slots >= tasks);
  }

  /**
   * For messages, what holds slots: "stage 7 (count at App.java:12): 3 tasks, on executors 0, 1".
   */
  synchronized List<String> holders() {
    Map<Integer, Integer> tasks = new TreeMap<>();
    Map<Integer, Set<String>> where = new TreeMap<>();
    running.forEach(
        (executor, stages) ->
            stages
                .values()
                .forEach(
                    stage -> {
                      tasks.merge(stage, 1, Integer::sum);
                      where.computeIfAbsent(stage, key -> new TreeSet<>()).add(executor);
                    }));
    List<String> holders = new ArrayList<>();
    tasks.forEach(
        (stage, count) ->
            holders.add(
                "stage "
                    + stage
                    + " ("
                    + stageNames.getOrDefault(stage, "?")
                    + "): "
                    + count
                    + (count == 1 ? " task" : " tasks")
                    + ", on executor"
                    + (where.get(stage).size() == 1 ? " " : "s ")
                    + String.join(", ", where.get(stage))));
    return holders;
  }

  private boolean isExcluded(String id, ExecutorInfo info) {
    return excludedExecutors.contains(id) || excludedHosts.contains(info.executorHost());
  }

  /** As Spark counts them: by cores, and by whatever else a task needs. */
  private int slots(ExecutorInfo info, ResourceProfile profile) {
    int cpus =
        profile.getTaskCpus().isDefined()
            ? ((Number) profile.getTaskCpus().get()).intValue()
            : sc.conf().getInt("spark.task.cpus", 1);
    int slots = info.totalCores() / Math.max(1, cpus);
    for (TaskResourceRequest request : profile.taskResourcesJMap().values()) {
      if (!request.resourceName().equals(ResourceProfile.CPUS())) {
        slots = Math.min(slots, slots(info, request));
      }
    }
    return slots;
  }

  private static int slots(ExecutorInfo info, TaskResourceRequest request) {
    if (request.amount() <= 0 || !info.resourcesInfo().contains(request.resourceName())) {
      return 0;
    }
    ResourceInformation resource = info.resourcesInfo().apply(request.resourceName());
    int addresses = resource.addresses().length;
    return request.amount() < 1
        ? addresses * (int) Math.floor(1 / request.amount())
        : (int) (addresses / request.amount());
  }

  @Override
  public synchronized void onExecutorAdded(SparkListenerExecutorAdded added) {
    executors.put(added.executorId(), added.executorInfo());
  }

  @Override
  public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    executors.remove(removed.executorId());
    excludedExecutors.remove(removed.executorId());
    running.remove(removed.executorId());
  }

  @Override
  public synchronized void onExecutorExcluded(SparkListenerExecutorExcluded excluded) {
    excludedExecutors.add(excluded.executorId());
  }

  @Override
  public synchronized void onExecutorUnexcluded(SparkListenerExecutorUnexcluded unexcluded) {
    excludedExecutors.remove(unexcluded.executorId());
  }

  @Override
  public synchronized void onNodeExcluded(SparkListenerNodeExcluded excluded) {
    excludedHosts.add(excluded.hostId());
  }

  @Override
  public synchronized void onNodeUnexcluded(SparkListenerNodeUnexcluded unexcluded) {
    excludedHosts.remove(unexcluded.hostId());
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    stageNames.put(submitted.stageInfo().stageId(), submitted.stageInfo().name());
  }

  @Override
  public synchronized void onTaskStart(SparkListenerTaskStart started) {
    running
        .computeIfAbsent(started.taskInfo().executorId(), key -> new TreeMap<>())
        .put(started.taskInfo().taskId(), started.stageId());
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
    Map<Long, Integer> tasks = running.get(ended.taskInfo().executorId());
    if (tasks != null) {
      tasks.remove(ended.taskInfo().taskId());
    }
  }
}
