package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.jni.NativeLibrary;
import java.nio.ByteBuffer;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.FloatPointer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ForeignBufferTest {
  @BeforeAll
  static void loadLibrary() {
    assertThat(NativeLibrary.load()).isEmpty();
  }

  @Test
  void aDirectBufferCountsFromItsPositionToItsLimit() {
    ByteBuffer direct = ByteBuffer.allocateDirect(64).position(8).limit(24);
    ForeignBuffer buffer = ForeignBuffer.of(direct);
    assertThat(buffer.bytes()).isEqualTo(16);
    assertThat(buffer.address())
        .isEqualTo(ForeignBuffer.of(direct.duplicate().position(0)).address() + 8);
  }

  @Test
  void aPointerCountsFromItsPositionToItsLimit() {
    try (FloatPointer floats = new FloatPointer(10)) {
      ForeignBuffer buffer = ForeignBuffer.of(floats.position(4));
      assertThat(buffer.bytes()).isEqualTo(24);
      assertThat(buffer.address()).isEqualTo(floats.address() + 16);
      assertThat(buffer.pointer().capacity()).isEqualTo(24);
    }
  }

  @Test
  void memoryThatCannotBeUsedIsRefused() {
    assertThatThrownBy(() -> ForeignBuffer.of(ByteBuffer.allocate(8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Java heap")
        .hasMessageContaining("allocateDirect");
    assertThatThrownBy(() -> ForeignBuffer.of(0, 8)).hasMessageContaining("0x0 is no address");
    assertThatThrownBy(() -> ForeignBuffer.of(4096, -1)).hasMessageContaining("-1 bytes");
    assertThatThrownBy(() -> ForeignBuffer.of(new BytePointer((BytePointer) null)))
        .hasMessageContaining("does not say how long it is");
    assertThatThrownBy(() -> ForeignBuffer.of((ByteBuffer) null))
        .isInstanceOf(NullPointerException.class);
    assertThat(ForeignBuffer.of(0, 0).bytes()).isZero();
  }
}
