package io.sparkgap.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What measured calls give, and that a wrong result does not pass for a right one. */
class PatternTest {
  private static final int PES = 3;

  @ParameterizedTest
  @EnumSource(DataType.class)
  void oneElementThatIsWrongIsFound(DataType type) {
    Pattern pattern = new Pattern(type, ReduceOp.SUM, PES);
    byte[] expected = pattern.reduced(1);
    byte[] found = expected.clone();
    assertThat(pattern.wrong(expected, found, found.length)).isZero();

    found[found.length - 1] ^= 0x40;
    assertThat(pattern.wrong(expected, found, found.length)).isOne();
    assertThat(pattern.wrong(expected, found, found.length - type.bytes())).isZero();
  }

  @Test
  void whatOtherPesGiveIsAnother() {
    Pattern pattern = new Pattern(DataType.INT32, null, PES);
    assertThat(pattern.wrong(pattern.given(0, 0), pattern.given(1, 0), 28)).isEqualTo(7);
    assertThat(pattern.wrong(pattern.given(0, 0), pattern.given(0, 1), 28)).isEqualTo(7);
  }

  @Test
  void reductionsAreThoseOfTheElements() {
    // Element 5 of block 0: 5, 6 and 0.
    assertThat(element(ReduceOp.SUM)).isEqualTo(11);
    assertThat(element(ReduceOp.MIN)).isEqualTo(0);
    assertThat(element(ReduceOp.MAX)).isEqualTo(6);
    assertThat(element(ReduceOp.AVG)).isEqualTo(3);
    assertThat(element(ReduceOp.PROD)).isEqualTo(2);
  }

  private static int element(ReduceOp op) {
    byte[] piece = new Pattern(DataType.INT32, op, PES).reduced(0);
    return ByteBuffer.wrap(piece).order(ByteOrder.nativeOrder()).getInt(5 * Integer.BYTES);
  }

  @Test
  void halfPrecisionRoundsToTheNearestEven() {
    // 86 PEs: sums about 258, of which bfloat16 has the even ones, and float16 all.
    Pattern brain = new Pattern(DataType.BFLOAT16, ReduceOp.SUM, 86);
    Pattern half = new Pattern(DataType.FLOAT16, ReduceOp.SUM, 86);
    for (int i = 0; i < 7; i++) {
      int sum = 0;
      for (int pe = 0; pe < 86; pe++) {
        sum += (pe + i) % 7;
      }
      float asBrain = Float.intBitsToFloat(bits(brain.reduced(0), i) << 16);
      assertThat(asBrain).isBetween(sum - 1f, sum + 1f);
      assertThat(asBrain % (sum > 256 ? 2 : 1)).isZero();
      int bits = bits(half.reduced(0), i);
      assertThat((1024 + (bits & 0x3ff)) * Math.pow(2, (bits >> 10) - 25)).isEqualTo(sum);
    }
  }

  private static int bits(byte[] piece, int element) {
    return ByteBuffer.wrap(piece).order(ByteOrder.nativeOrder()).getShort(2 * element) & 0xffff;
  }
}
