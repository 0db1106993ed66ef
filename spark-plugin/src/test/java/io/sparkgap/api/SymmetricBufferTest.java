package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class SymmetricBufferTest {
  private final ThreadWorld world = new ThreadWorld(1);
  private final Communicator communicator = world.communicator(0);

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void memoryComesZeroedAndAligned() {
    SymmetricBuffer buffer = communicator.allocate(10_000);
    byte[] bytes = new byte[10_000];
    buffer.read(0, bytes, 0, bytes.length);
    assertThat(bytes).containsOnly(0);
    assertThat(buffer.address() % 4096).isZero();
  }

  @Test
  void everyKindOfArrayGoesInAndComesOut() {
    SymmetricBuffer buffer = communicator.allocate(64);

    buffer.write(8, new byte[] {9, 1, 2}, 1, 2);
    byte[] bytes = new byte[3];
    buffer.read(8, bytes, 0, 3);
    assertThat(bytes).containsExactly(1, 2, 0);

    buffer.write(8, new short[] {9, 1, 2}, 1, 2);
    short[] shorts = new short[3];
    buffer.read(8, shorts, 1, 2);
    assertThat(shorts).containsExactly(0, 1, 2);

    buffer.write(8, new int[] {9, 1, 2}, 1, 2);
    int[] ints = new int[2];
    buffer.read(8, ints, 0, 2);
    assertThat(ints).containsExactly(1, 2);

    buffer.write(8, new long[] {9, 1, 2}, 1, 2);
    long[] longs = new long[2];
    buffer.read(8, longs, 0, 2);
    assertThat(longs).containsExactly(1, 2);

    buffer.write(8, new float[] {9, 1, 2}, 1, 2);
    float[] floats = new float[2];
    buffer.read(8, floats, 0, 2);
    assertThat(floats).containsExactly(1, 2);

    buffer.write(8, new double[] {9, 1, 2}, 1, 2);
    double[] doubles = new double[2];
    buffer.read(8, doubles, 0, 2);
    assertThat(doubles).containsExactly(1, 2);
  }

  @Test
  void aSliceSeesItsPartAtItsOwnOffsets() {
    SymmetricBuffer buffer = communicator.allocate(64);
    SymmetricBuffer slice = buffer.slice(16, 32).slice(8, 16);

    slice.write(4, new int[] {7}, 0, 1);

    int[] ints = new int[1];
    buffer.read(28, ints, 0, 1);
    assertThat(ints).containsExactly(7);
    assertThat(slice.bytes()).isEqualTo(16);
    assertThat(slice.address()).isEqualTo(buffer.address() + 24);
    assertThat(slice).hasToString("bytes 24 to 40 of buffer 1");
    slice.close();
    assertThat(buffer.isClosed()).isFalse();
  }

  @Test
  void copiesOutsideTheBufferOrTheArrayAreRefusedWithTheNumbers() {
    SymmetricBuffer buffer = communicator.allocate(64);
    assertThatThrownBy(() -> buffer.write(60, new float[2], 0, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("write(byteOffset=60, float[2], from=0, count=2)")
        .hasMessageContaining("2 elements of 4 bytes from byte 60 on do not lie within its 64");
    assertThatThrownBy(() -> buffer.read(0, new float[2], 1, 2))
        .hasMessageContaining("no elements 1 to 3");
    assertThatThrownBy(() -> buffer.read(0, new float[2], -1, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> buffer.read(-4, new float[2], 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> buffer.read(2, new float[2], 0, 1))
        .hasMessageContaining("byte 2 of the whole buffer is no multiple of 4");
    assertThatThrownBy(() -> buffer.read(0, (long[]) null, 0, 1))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> buffer.slice(60, 8)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> buffer.byteBuffer(0, -1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aByteBufferIsAViewInTheMachinesOrder() {
    SymmetricBuffer buffer = communicator.allocate(64);
    ByteBuffer view = buffer.byteBuffer(8, 16);
    view.putInt(4, 0x01020304);

    int[] ints = new int[1];
    buffer.read(12, ints, 0, 1);
    assertThat(ints).containsExactly(0x01020304);
    assertThat(view.order()).isEqualTo(ByteOrder.nativeOrder());
    assertThat(view.capacity()).isEqualTo(16);
    assertThat(buffer.byteBuffer(64, 0).capacity()).isZero();
  }

  @Test
  void aBufferOfNoBytesIsABufferToo() {
    SymmetricBuffer buffer = communicator.allocate(0);
    buffer.write(0, new float[0], 0, 0);
    communicator.allReduce(buffer, buffer, 0, DataType.FLOAT32, ReduceOp.SUM);
    communicator.put(buffer, 0, buffer, 0, 0, 0);
    assertThat(buffer.byteBuffer(0, 0).capacity()).isZero();
    buffer.close();
  }

  private static long availableMemory() throws IOException {
    return Files.readAllLines(Path.of("/proc/meminfo")).stream()
        .filter(line -> line.startsWith("MemAvailable:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
        .findFirst()
        .orElse(0);
  }

  @Test
  void buffersOverTwoGibibytesAreAddressedToTheirEnd() throws Exception {
    long bytes = (3L << 30) + 8;
    Assumptions.assumeTrue(availableMemory() > bytes + (1L << 30), "needs 4 GiB of memory");
    SymmetricBuffer buffer = communicator.allocate(bytes);
    long[] out = new long[1];

    buffer.write(bytes - 8, new long[] {1, 2}, 1, 1);
    buffer.read(bytes - 8, out, 0, 1);
    assertThat(out).containsExactly(2);

    // Across the border between two of the windows that a Java buffer can index.
    float[] floats = {1, 2, 3, 4};
    buffer.write((2L << 30) - 8, floats, 0, 4);
    float[] read = new float[4];
    buffer.read((2L << 30) - 8, read, 0, 4);
    assertThat(read).containsExactly(1, 2, 3, 4);

    assertThat(buffer.byteBuffer(2L << 30, 8).getFloat(4)).isEqualTo(4f);
    assertThat(communicator.fetchAdd(buffer, bytes - 8, 1, 0)).isEqualTo(2);
    buffer.close();
  }
}
