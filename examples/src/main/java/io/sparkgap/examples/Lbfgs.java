package io.sparkgap.examples;

import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Minimizes a smooth function by L-BFGS with a line search for the strong Wolfe conditions (Nocedal
 * and Wright, Numerical Optimization, algorithms 7.4, 7.5 and 3.5).
 *
 * <p>When it ends is what Breeze, which Spark ML minimizes with, takes for an end, so that two
 * numbers of iterations can be compared: over the last twenty iterations the function has fallen by
 * no more than {@code tolerance} times its value at the start; or the gradient is no longer than
 * {@code tolerance} times the function's value; or no step goes down any more.
 */
public final class Lbfgs {
  /** Values that the one before last is compared with. */
  private static final int WINDOW = 20;

  private static final double SHORTEST_GRADIENT = 1e-8;

  /** A function of as many variables as there are parameters. */
  @FunctionalInterface
  public interface Objective {
    /**
     * Its value.
     *
     * @param x where
     * @param gradient filled with the derivatives there
     */
    double at(double[] x, double[] gradient);
  }

  /**
   * When to stop.
   *
   * @param iterations at most
   * @param tolerance as the class says
   * @param memory steps that the next direction is made from
   */
  public record Limits(int iterations, double tolerance, int memory) {}

  /** Why it ended. */
  public enum Reason {
    VALUES_CONVERGED,
    GRADIENT_CONVERGED,
    NO_STEP_GOES_DOWN,
    ITERATIONS
  }

  /**
   * What came out.
   *
   * @param x where the function is least
   * @param value of the function there
   * @param iterations steps that were taken
   * @param evaluations of the function, one and seldom more for a step
   * @param reason why it ended
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Minimum(double[] x, double value, int iterations, int evaluations, Reason reason) {}

  /** A step that was taken, the change of the gradient along it, and their product. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Pair(double[] step, double[] change, double product) {}

  private final Objective objective;
  private final Limits limits;
  private final ArrayDeque<Pair> pairs = new ArrayDeque<>();
  private final ArrayDeque<Double> values = new ArrayDeque<>();
  private int evaluations;

  private Lbfgs(Objective objective, Limits limits) {
    this.objective = objective;
    this.limits = limits;
  }

  /** From {@code start} on, which stays as it is. */
  public static Minimum minimize(Objective objective, double[] start, Limits limits) {
    return new Lbfgs(objective, limits).from(start);
  }

  private Minimum from(double[] start) {
    WolfeSearch.Point point = evaluate(start.clone());
    double first = Math.abs(point.value());
    if (!Double.isFinite(first)) {
      throw new IllegalArgumentException(
          "The function is " + point.value() + " at the start: are all features finite numbers?");
    }
    int iterations = 0;
    Reason reason = null;
    while (reason == null) {
      WolfeSearch.Point next = step(point, iterations);
      if (next == null && !pairs.isEmpty()) {
        pairs.clear();
        next = step(point, iterations);
      }
      if (next == null) {
        reason = Reason.NO_STEP_GOES_DOWN;
        break;
      }
      remember(point, next);
      point = next;
      iterations++;
      reason = reason(point, first, iterations);
    }
    return new Minimum(point.x(), point.value(), iterations, evaluations, reason);
  }

  private Reason reason(WolfeSearch.Point point, double first, int iterations) {
    values.addLast(point.value());
    if (values.size() > WINDOW) {
      values.removeFirst();
    }
    double highest = values.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    double shortest = Math.max(limits.tolerance * Math.abs(point.value()), SHORTEST_GRADIENT);
    if (iterations >= limits.iterations) {
      return Reason.ITERATIONS;
    } else if (values.size() > 1 && highest - point.value() <= limits.tolerance * first) {
      return Reason.VALUES_CONVERGED;
    } else if (Math.sqrt(dot(point.gradient(), point.gradient())) <= shortest) {
      return Reason.GRADIENT_CONVERGED;
    }
    return null;
  }

  /** Null if the line search finds none. */
  private WolfeSearch.Point step(WolfeSearch.Point from, int iteration) {
    double[] direction = direction(from.gradient());
    double length = Math.sqrt(dot(direction, direction));
    if (length == 0) {
      return null;
    }
    return WolfeSearch.along(this::evaluate, from, direction, iteration == 0 ? 1 / length : 1);
  }

  private WolfeSearch.Point evaluate(double[] x) {
    double[] gradient = new double[x.length];
    evaluations++;
    return new WolfeSearch.Point(x, objective.at(x, gradient), gradient);
  }

  /** Downhill, bent by what the last steps say about the curvature. */
  private double[] direction(double[] gradient) {
    double[] direction = gradient.clone();
    double[] shares = new double[pairs.size()];
    int i = 0;
    for (Pair pair : pairs) {
      shares[i] = dot(pair.step, direction) / pair.product;
      add(-shares[i], pair.change, direction);
      i++;
    }
    if (!pairs.isEmpty()) {
      Pair latest = pairs.peekFirst();
      scale(latest.product / dot(latest.change, latest.change), direction);
    }
    for (Iterator<Pair> oldest = pairs.descendingIterator(); oldest.hasNext(); ) {
      Pair pair = oldest.next();
      i--;
      add(shares[i] - dot(pair.change, direction) / pair.product, pair.step, direction);
    }
    scale(-1, direction);
    return direction;
  }

  private void remember(WolfeSearch.Point from, WolfeSearch.Point to) {
    double[] step = to.x().clone();
    add(-1, from.x(), step);
    double[] change = to.gradient().clone();
    add(-1, from.gradient(), change);
    pairs.addFirst(new Pair(step, change, dot(step, change)));
    if (pairs.size() > limits.memory) {
      pairs.removeLast();
    }
  }

  static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  /** Adds {@code factor} times {@code what} to {@code to}. */
  static void add(double factor, double[] what, double[] to) {
    for (int i = 0; i < to.length; i++) {
      to[i] += factor * what[i];
    }
  }

  private static void scale(double factor, double[] what) {
    for (int i = 0; i < what.length; i++) {
      what[i] *= factor;
    }
  }
}
