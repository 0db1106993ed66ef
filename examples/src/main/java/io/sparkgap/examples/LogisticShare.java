package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import java.util.Arrays;

/**
 * One PE's rows of a logistic regression, and the mean loss over the rows of all PEs. Features are
 * brought to mean 0 and deviation 1 by what all rows say; one that is the same in every row becomes
 * 0, and gets no weight.
 *
 * <p>There are as many parameters as a row has values: first the intercept, then the weight of each
 * feature on that scale. All PEs call everything here at the same time, and get the same bits.
 */
final class LogisticShare implements Lbfgs.Objective {
  /** Rows that are worked on at once: independent sums keep a core busy. */
  private static final int TOGETHER = 4;

  /** Factors of up to 2 of which a product of so many is a finite number. */
  private static final int FACTORS = 512;

  private final Communicator communicator;
  private final double l2;
  private final int width;

  /** Row by row: a 1, which the intercept is the weight of, then the features. */
  private final double[] values;

  private final double[] labels;

  /** Of each parameter; those of the intercept are 0 and 1. */
  private final double[] means;

  private final double[] deviations;
  private final double count;
  private final double positives;

  /** The derivative for each parameter, then the loss: what PEs sum in one call. */
  private final double[] sums;

  private double product;
  private int factors;
  private double loss;

  /**
   * @param values row by row, the label (0 or 1) and the features; changed from now on
   * @param width values of a row
   * @param l2 half of it times the squared weights is added to the loss
   */
  LogisticShare(Communicator communicator, double[] values, int width, double l2) {
    this.communicator = communicator;
    this.values = values;
    this.width = width;
    this.l2 = l2;
    labels = new double[values.length / width];
    for (int row = 0; row < labels.length; row++) {
      labels[row] = values[row * width];
      values[row * width] = 1;
    }
    sums = new double[width + 1];
    double[] totals = sumOfAll();
    count = totals[0];
    positives = totals[width];
    means = totals.clone();
    for (int i = 0; i < width; i++) {
      means[i] = i == 0 ? 0 : totals[i] / count;
    }
    deviations = standardize();
  }

  /** Over all rows: how many there are, each feature's sum, and that of the labels. */
  private double[] sumOfAll() {
    double[] totals = new double[width + 1];
    for (int at = 0; at < values.length; at += width) {
      for (int i = 0; i < width; i++) {
        totals[i] += values[at + i];
      }
    }
    totals[width] = Arrays.stream(labels).sum();
    communicator.allReduce(totals);
    return totals;
  }

  private double[] standardize() {
    double[] result = new double[width];
    for (int at = 0; at < values.length; at += width) {
      for (int i = 0; i < width; i++) {
        double off = values[at + i] - means[i];
        result[i] += off * off;
      }
    }
    communicator.allReduce(result);
    double[] factor = new double[width];
    for (int i = 1; i < width; i++) {
      result[i] = Math.sqrt(result[i] / (count - 1));
      factor[i] = result[i] > 0 ? 1 / result[i] : 0;
    }
    factor[0] = 1;
    result[0] = 1;
    for (int at = 0; at < values.length; at += width) {
      for (int i = 0; i < width; i++) {
        values[at + i] = (values[at + i] - means[i]) * factor[i];
      }
    }
    return result;
  }

  /** Rows of all PEs. */
  double count() {
    return count;
  }

  /** Rows of all PEs with label 1. */
  double positives() {
    return positives;
  }

  /** No weights, and the intercept that alone explains the labels best. */
  double[] start() {
    double[] parameters = new double[width];
    parameters[0] = Math.log(positives / (count - positives));
    return parameters;
  }

  /** The parameters of features as they came. */
  double[] unscaled(double[] parameters) {
    double[] result = parameters.clone();
    for (int i = 1; i < width; i++) {
      result[i] = deviations[i] > 0 ? parameters[i] / deviations[i] : 0;
      result[0] -= result[i] * means[i];
    }
    return result;
  }

  @Override
  public double at(double[] parameters, double[] gradient) {
    Arrays.fill(sums, 0);
    loss = 0;
    product = 1;
    factors = 0;
    int row = 0;
    for (; row + TOGETHER <= labels.length; row += TOGETHER) {
      addRows(parameters, row);
    }
    for (; row < labels.length; row++) {
      addRow(parameters, row);
    }
    sums[width] = loss + Math.log(product);
    communicator.allReduce(sums);
    double squares = 0;
    for (int i = 0; i < width; i++) {
      double penalized = i == 0 ? 0 : parameters[i];
      gradient[i] = sums[i] / count + l2 * penalized;
      squares += penalized * penalized;
    }
    return sums[width] / count + l2 / 2 * squares;
  }

  private void addRows(double[] parameters, int row) {
    int a = row * width;
    int b = a + width;
    int c = b + width;
    int d = c + width;
    double marginA = 0;
    double marginB = 0;
    double marginC = 0;
    double marginD = 0;
    for (int i = 0; i < width; i++) {
      double parameter = parameters[i];
      marginA += parameter * values[a + i];
      marginB += parameter * values[b + i];
      marginC += parameter * values[c + i];
      marginD += parameter * values[d + i];
    }
    double ofA = derivative(marginA, labels[row]);
    double ofB = derivative(marginB, labels[row + 1]);
    double ofC = derivative(marginC, labels[row + 2]);
    double ofD = derivative(marginD, labels[row + 3]);
    for (int i = 0; i < width; i++) {
      sums[i] +=
          ofA * values[a + i] + ofB * values[b + i] + ofC * values[c + i] + ofD * values[d + i];
    }
  }

  private void addRow(double[] parameters, int row) {
    int at = row * width;
    double margin = 0;
    for (int i = 0; i < width; i++) {
      margin += parameters[i] * values[at + i];
    }
    double derivative = derivative(margin, labels[row]);
    for (int i = 0; i < width; i++) {
      sums[i] += derivative * values[at + i];
    }
  }

  /** Adds a row's loss; returns its derivative by the margin. */
  private double derivative(double margin, double label) {
    double wrong = label > 0 ? -margin : margin;
    double small = Math.exp(-Math.abs(wrong));
    loss += Math.max(wrong, 0);
    product *= 1 + small;
    if (++factors == FACTORS) {
      loss += Math.log(product);
      product = 1;
      factors = 0;
    }
    double chance = (wrong > 0 ? 1 : small) / (1 + small);
    return label > 0 ? -chance : chance;
  }
}
