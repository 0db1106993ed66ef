package io.sparkgap.examples;

import java.util.function.Function;

/**
 * Looks along a direction for a step after which the function is lower and the slope less steep:
 * the strong Wolfe conditions. Goes on in growing steps until such a step must lie between two, and
 * narrows that down by a cubic through both.
 */
final class WolfeSearch {
  /** Of the slope at the start, that the function falls by at least. */
  private static final double DECREASE = 1e-4;

  /** Of the slope at the start, that is left at most. */
  private static final double SLOPE_LEFT = 0.9;

  private static final double GROWTH = 1.5;
  private static final int TRIES = 20;

  /** Of the space between two steps, how near to either the next may be. */
  private static final double MARGIN = 0.1;

  /** A place, the function's value there and its derivatives. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Point(double[] x, double value, double[] gradient) {}

  /** A length along the direction, what is there, and how steep it is that way. */
  private record Step(double length, Point point, double slope) {
    double value() {
      return point.value();
    }
  }

  private final Function<double[], Point> function;
  private final double[] direction;
  private final Step start;

  private WolfeSearch(Function<double[], Point> function, Point from, double[] direction) {
    this.function = function;
    this.direction = direction;
    start = new Step(0, from, Lbfgs.dot(from.gradient(), direction));
  }

  /** The point that was found, or null. */
  static Point along(
      Function<double[], Point> function, Point from, double[] direction, double firstLength) {
    WolfeSearch search = new WolfeSearch(function, from, direction);
    return search.start.slope < 0 ? search.grow(firstLength) : null;
  }

  private Point grow(double firstLength) {
    Step low = start;
    double length = firstLength;
    double outside = Double.POSITIVE_INFINITY;
    for (int i = 0; i < TRIES; i++) {
      Step step = at(length);
      if (!Double.isFinite(step.value())) {
        outside = length; // of where the function has values
        length = (low.length + outside) / 2;
        continue;
      }
      if (tooHigh(step) || (step.value() >= low.value() && i > 0)) {
        return between(low, step);
      }
      if (flatEnough(step)) {
        return step.point;
      }
      if (step.slope >= 0) {
        return between(step, low);
      }
      low = step;
      length = Math.min(length * GROWTH, (length + outside) / 2);
    }
    return null;
  }

  /** {@code low} is the lowest so far; the other is on that side of it to which it goes down. */
  private Point between(Step low, Step other) {
    Step best = low;
    Step end = other;
    for (int i = 0; i < TRIES; i++) {
      Step step = at(best.length < end.length ? cubic(best, end) : cubic(end, best));
      if (tooHigh(step) || step.value() >= best.value()) {
        end = step;
        continue;
      }
      if (flatEnough(step)) {
        return step.point;
      }
      if (step.slope * (end.length - best.length) >= 0) {
        end = best;
      }
      best = step;
    }
    return null;
  }

  private Step at(double length) {
    double[] x = start.point.x().clone();
    Lbfgs.add(length, direction, x);
    Point point = function.apply(x);
    return new Step(length, point, Lbfgs.dot(point.gradient(), direction));
  }

  private boolean tooHigh(Step step) {
    return !(step.value() <= start.value() + DECREASE * step.length * start.slope);
  }

  private boolean flatEnough(Step step) {
    return Math.abs(step.slope) <= SLOPE_LEFT * Math.abs(start.slope);
  }

  /** Where the cubic with both values and slopes is least, not too near to either end. */
  private static double cubic(Step left, Step right) {
    double space = right.length - left.length;
    double chord = left.slope + right.slope - 3 * (right.value() - left.value()) / space;
    double root = Math.sqrt(chord * chord - left.slope * right.slope);
    double least =
        right.length - space * (right.slope + root - chord) / (right.slope - left.slope + 2 * root);
    double from = left.length + MARGIN * space;
    double to = right.length - MARGIN * space;
    return Double.isNaN(least) ? (from + to) / 2 : Math.min(Math.max(least, from), to);
  }
}
