package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.jni.SparkgapNative;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorsTest {
  @ParameterizedTest
  @CsvSource({
    SparkgapNative.SPARKGAP_TIMED_OUT + ",PeerTimeoutException,spark.sparkgap.peer.timeout",
    SparkgapNative.SPARKGAP_PEER_LOST + ",PeerLostException,executor's log",
    SparkgapNative.SPARKGAP_ABORTED + ",WorldAbortedException,cannot be used",
    SparkgapNative.SPARKGAP_MISMATCH + ",CallMismatchException,spark.sparkgap.check",
    SparkgapNative.SPARKGAP_OUT_OF_MEMORY + ",HeapFullException,spark.sparkgap.host.directory",
    SparkgapNative.SPARKGAP_UNAVAILABLE + ",ProviderUnavailableException,spark.sparkgap.provider",
    SparkgapNative.SPARKGAP_DEVICE_FAILED + ",DeviceFailedException,retries the stage",
    SparkgapNative.SPARKGAP_INTERNAL + ",InternalException,report it",
  })
  void everyStatusHasAnExceptionThatSaysWhatHelps(int status, String type, String helps) {
    RuntimeException e = Errors.of(null, status, 1, 4, 7, "barrier()");
    assertThat(e)
        .isInstanceOf(SparkgapException.class)
        .hasMessageStartingWith("barrier() on PE 1 of 4 (world epoch 7): ")
        .hasMessageContaining(helps);
    assertThat(e.getClass().getSimpleName()).isEqualTo(type);
    SparkgapException thrown = (SparkgapException) e;
    assertThat(thrown.status()).isEqualTo(status);
    assertThat(thrown.pe()).isEqualTo(1);
    assertThat(thrown.peer()).isEqualTo(-1);
    assertThat(thrown.epoch()).isEqualTo(7);
  }

  @Test
  void argumentsThatNativeCodeRefusesAreIllegalArguments() {
    assertThat(Errors.of(null, SparkgapNative.SPARKGAP_INVALID_ARGUMENT, 0, 1, 7, "barrier()"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the world is still good");
  }

  @Test
  void exceptionsTravelToTheDriver() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(new PeerLostException("gone", 1, 2, 3));
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      PeerLostException read = (PeerLostException) in.readObject();
      assertThat(read).hasMessage("gone");
      assertThat(read.peer()).isEqualTo(2);
    }
  }
}
