package io.sparkgap.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Steps of a check on a host that may not be had for long: each has a deadline, none stops the
 * others, and what is known so far is in the file after every step.
 */
final class CheckReport implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MOST_ERROR_CHARS = 6000;

  private final JavaSparkContext spark;
  private final Path file;
  private final long stepSeconds;
  private final ObjectNode root = JSON.createObjectNode();
  private final ArrayNode steps = root.putArray("steps");
  private final ExecutorService thread =
      Executors.newCachedThreadPool(
          work -> {
            Thread daemon = new Thread(work, "check step");
            daemon.setDaemon(true);
            return daemon;
          });
  private boolean good = true;

  CheckReport(JavaSparkContext spark, Path file, long stepSeconds) {
    this.spark = spark;
    this.file = file;
    this.stepSeconds = stepSeconds;
  }

  void put(String name, Object value) {
    root.set(name, JSON.valueToTree(value));
    write();
  }

  /** Runs a step; its result is written as JSON. */
  void step(String name, Callable<?> work) {
    System.out.println("step " + name);
    ObjectNode step = steps.addObject().put("step", name);
    long start = System.nanoTime();
    Future<?> running = thread.submit(work);
    try {
      Object result = running.get(stepSeconds, TimeUnit.SECONDS);
      step.put("ok", true).set("result", JSON.valueToTree(result));
    } catch (TimeoutException e) {
      running.cancel(true);
      spark.sc().cancelAllJobs();
      fail(step, "not done after " + stepSeconds + " s");
    } catch (ExecutionException e) {
      StringWriter text = new StringWriter();
      e.getCause().printStackTrace(new PrintWriter(text));
      fail(step, text.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail(step, "interrupted");
    }
    step.put("seconds", (System.nanoTime() - start) / 1e9);
    write();
    System.out.println("step " + name + (step.get("ok").asBoolean() ? " is good" : " FAILED"));
  }

  private void fail(ObjectNode step, String why) {
    good = false;
    step.put("ok", false).put("error", why.substring(0, Math.min(why.length(), MOST_ERROR_CHARS)));
  }

  /** Whether no step has failed. */
  boolean isGood() {
    return good;
  }

  private void write() {
    try {
      Files.writeString(file, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    root.put("good", good);
    write();
    thread.shutdownNow();
  }
}
