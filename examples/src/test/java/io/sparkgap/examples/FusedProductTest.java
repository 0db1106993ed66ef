package io.sparkgap.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

/** What {@link FusedProduct} refuses, and what it says where something is missing. */
class FusedProductTest {
  @Test
  void aShapeThatCannotBeSpreadOverThePesIsRefused() {
    assertThatThrownBy(() -> new ProductModel(3, 8, 32, 0, 2, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("3 x 8 cannot be scattered over 2 PEs");
    assertThatThrownBy(() -> new ProductModel(4, 12, 32, 0, 2, false))
        .hasMessageContaining("columns that are one of 8");
    assertThatThrownBy(() -> new ProductModel(4, 8, 24, 0, 2, false))
        .hasMessageContaining("inner dimension of 24", "Pass a multiple of 16");
  }

  @Test
  void sumsAreRoundedAsTheyTravel() {
    ProductModel exact = new ProductModel(4, 8, 512, 0, 2, false);
    ProductModel rounded = new ProductModel(4, 8, 512, 0, 2, true);

    double sum = 0;
    for (int at = 0; at < 512; at++) {
      sum += exact.left(3, at) * (double) exact.right(7, at);
    }
    assertThat(exact.sum(3, 7)).isEqualTo((float) sum);
    assertThat(exact.sumOntoOthers(3, 7, true)).isEqualTo((float) sum);
    assertThat((double) rounded.sumOntoOthers(3, 7, false)).isBetween(sum - 1, sum + 1);
    assertThat(rounded.sumOntoOthers(3, 7, true)).isEqualTo(rounded.sum(3, 7));
    assertThat(Float.floatToRawIntBits(rounded.sum(3, 7)) & 0xffff).isZero();
    assertThat((double) rounded.sum(3, 7)).isBetween(sum - 1, sum + 1);
  }

  /** In builds with -Pcuda; a host without cuBLAS is what most of them are built on. */
  @Test
  void withoutCublasOneSentenceSaysWhatIsNeeded() {
    assumeTrue(ProductKernels.areInThisJar(), "a build without GPU code");
    DigitsKernels.load(ProductKernels.class);
    int status = ProductKernels.open("/nonexistent/libcublas.so.13", 0, new long[1]);

    assertThatThrownBy(() -> ProductKernels.require(status, "PE 0 of 1"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("cuBLAS 12 or 13 is needed")
        .hasMessageContaining("/nonexistent/libcublas.so.13")
        .hasMessageEndingWith("(on PE 0 of 1)");
  }
}
