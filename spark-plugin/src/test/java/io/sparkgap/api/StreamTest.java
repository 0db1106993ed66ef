package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Streams and events where there is no GPU: a world in host memory has none and says so. */
class StreamTest {
  @Test
  void aWorldInHostMemoryHasNoStream() {
    ThreadWorld.run(1, pe -> assertThat(pe.stream()).isZero());
  }

  @Test
  void aStreamIsRefusedInHostMemoryAndTheWorldGoesOn() {
    ThreadWorld.run(
        2,
        pe -> {
          assertThatThrownBy(() -> pe.setStream(0x1234))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("setStream(stream=0x1234) on PE " + pe.pe() + " of 2");
          pe.barrier();
        });
  }

  @Test
  void anEventIsRefusedInHostMemoryAndTheWorldGoesOn() {
    ThreadWorld.run(
        2,
        pe -> {
          assertThatThrownBy(pe::event)
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("event() on PE " + pe.pe() + " of 2");
          pe.barrier();
        });
  }

  @Test
  void whatKernelsTakeIsRefusedInHostMemoryAndTheWorldGoesOn() {
    ThreadWorld.run(
        2,
        pe -> {
          SymmetricBuffer buffer = pe.allocate(64);
          assertThatThrownBy(pe::deviceWorld)
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("deviceWorld() on PE " + pe.pe() + " of 2")
              .hasMessageContaining("host memory");
          assertThatThrownBy(buffer::deviceBuffer)
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("SymmetricBuffer.deviceBuffer() on PE " + pe.pe() + " of 2");
          buffer.close();
          assertThatThrownBy(buffer::deviceBuffer)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("closed");
          pe.barrier();
        });
  }

  @Test
  void thereIsNothingToWaitForInHostMemory() {
    ThreadWorld.run(1, Communicator::synchronize);
  }
}
