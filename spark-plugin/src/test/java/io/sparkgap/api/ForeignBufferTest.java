package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.jni.NativeLibrary;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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
  void theOwnerOfAnAddressStaysForAsLongAsTheBuffer() {
    ByteBuffer direct = ByteBuffer.allocateDirect(64);
    ForeignBuffer buffer = ForeignBuffer.of(AddressPointer.addressOf(direct) + 16, 24, direct);
    WeakReference<ByteBuffer> owner = new WeakReference<>(direct);
    direct = null;
    System.gc();
    assertThat(owner.get()).isNotNull();
    assertThat(buffer.bytes()).isEqualTo(24);
    assertThat(buffer.address()).isEqualTo(AddressPointer.addressOf(owner.get()) + 16);
  }

  @Test
  void aReadOnlyBufferIsReadAndNeverWrittenTo() {
    ThreadWorld.run(
        2,
        c -> {
          ByteBuffer memory = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());
          memory.putInt(0, 3).putInt(4, 3);
          ForeignBuffer readOnly = ForeignBuffer.of(memory.asReadOnlyBuffer());
          SymmetricBuffer symmetric = c.allocate(8);
          for (ThrowingCallable call :
              List.<ThrowingCallable>of(
                  () -> c.allReduce(symmetric, readOnly, 2, DataType.INT32, ReduceOp.SUM),
                  () -> c.allReduce(readOnly, readOnly, 2, DataType.INT32, ReduceOp.SUM),
                  () -> c.reduceScatter(symmetric, readOnly, 1, DataType.INT32, ReduceOp.SUM),
                  () -> c.allGather(symmetric, readOnly, 1, DataType.INT32),
                  () -> c.broadcast(symmetric, readOnly, 2, DataType.INT32, 0),
                  () -> c.reduce(symmetric, readOnly, 2, DataType.INT32, ReduceOp.SUM, c.pe()),
                  () -> c.allToAll(symmetric, readOnly, 1, DataType.INT32),
                  () -> {
                    long[] ones = {1, 1};
                    long[] places = {0, 1};
                    c.allToAllv(symmetric, ones, places, readOnly, ones, places, DataType.INT32);
                  },
                  () -> c.get(readOnly, 0, symmetric, 0, 8, 0))) {
            assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("read-only foreign memory at 0x")
                .hasMessageContaining("Pass one that is not read-only");
          }
          c.allReduce(readOnly, symmetric, 2, DataType.INT32, ReduceOp.SUM);
          assertThat(symmetric.byteBuffer(0, 8).getInt(4)).isEqualTo(6);
          assertThat(memory.getInt(4)).isEqualTo(3);
        });
  }

  @Test
  void memoryThatCannotBeUsedIsRefused() {
    assertThatThrownBy(() -> ForeignBuffer.of(ByteBuffer.allocate(8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Java heap")
        .hasMessageContaining("allocateDirect");
    assertThatThrownBy(() -> ForeignBuffer.of(0, 8)).hasMessageContaining("0x0 is no address");
    assertThatThrownBy(() -> ForeignBuffer.of(4096, -1)).hasMessageContaining("-1 bytes");
    assertThatThrownBy(() -> ForeignBuffer.of(4096, 8, null))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("of(address, bytes)");
    assertThatThrownBy(() -> ForeignBuffer.of((ByteBuffer) null))
        .isInstanceOf(NullPointerException.class);
    assertThat(ForeignBuffer.of(0, 0).bytes()).isZero();
  }
}
