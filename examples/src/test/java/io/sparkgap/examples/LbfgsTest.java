package io.sparkgap.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LbfgsTest {
  private static final Lbfgs.Limits LIMITS = new Lbfgs.Limits(100, 1e-12, 5);

  /** A long bent valley, least at (1, 1). */
  private static double rosenbrock(double[] x, double[] gradient) {
    double off = x[1] - x[0] * x[0];
    gradient[0] = -400 * x[0] * off - 2 * (1 - x[0]);
    gradient[1] = 200 * off;
    return 100 * off * off + (1 - x[0]) * (1 - x[0]);
  }

  @Test
  void theEndOfABentValleyIsFound() {
    double[] start = {-1.2, 1};
    Lbfgs.Minimum minimum = Lbfgs.minimize(LbfgsTest::rosenbrock, start, LIMITS);

    assertThat(minimum.x()).containsExactly(new double[] {1, 1}, within(1e-5));
    assertThat(minimum.iterations()).isLessThan(60);
    assertThat(minimum.evaluations()).isGreaterThan(minimum.iterations());
    assertThat(start).containsExactly(-1.2, 1);
  }

  @Test
  void aSlopeWithoutEndStopsAtTheNumberOfIterations() {
    Lbfgs.Minimum minimum =
        Lbfgs.minimize(
            (x, gradient) -> {
              gradient[0] = -Math.exp(-x[0]);
              return Math.exp(-x[0]);
            },
            new double[] {0},
            new Lbfgs.Limits(5, 0, 5));

    assertThat(minimum.reason()).isEqualTo(Lbfgs.Reason.ITERATIONS);
    assertThat(minimum.iterations()).isEqualTo(5);
    assertThat(minimum.value()).isPositive().isLessThan(0.1);
  }

  @Test
  void whereAllIsFlatNothingIsDone() {
    Lbfgs.Minimum minimum =
        Lbfgs.minimize(
            (x, gradient) -> {
              Arrays.fill(gradient, 0);
              return 7;
            },
            new double[3],
            LIMITS);

    assertThat(minimum.reason()).isEqualTo(Lbfgs.Reason.NO_STEP_GOES_DOWN);
    assertThat(minimum.iterations()).isZero();
    assertThat(minimum.value()).isEqualTo(7);
  }

  @Test
  void stepsOutOfTheFunctionsDomainAreTakenBack() {
    Lbfgs.Minimum minimum =
        Lbfgs.minimize(
            (x, gradient) -> {
              gradient[0] = 1 - 0.01 / x[0];
              return x[0] - 0.01 * Math.log(x[0]);
            },
            new double[] {0.5},
            LIMITS);

    assertThat(minimum.x()[0]).isCloseTo(0.01, within(1e-6));
  }

  @Test
  void whatIsNoNumberAtTheStartIsRefused() {
    assertThatThrownBy(() -> Lbfgs.minimize((x, gradient) -> Double.NaN, new double[] {0}, LIMITS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("are all features finite numbers?");
  }
}
