package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sparkgap.bootstrap.Message.Acknowledged;
import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.Counted;
import io.sparkgap.bootstrap.Message.ExecutorFailure;
import io.sparkgap.bootstrap.Message.ExecutorReady;
import io.sparkgap.bootstrap.Message.ExecutorReplaced;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Linked;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Report;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Wait;
import io.sparkgap.bootstrap.Message.Watch;
import io.sparkgap.bootstrap.MessageCodec.MalformedMessageException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MessageCodecTest {
  private static final StageAttempt STAGE = new StageAttempt(7, 2);
  private static final Reach REACH = new Reach("ab12", false, "no libfabric.so.1");

  private static final Member MEMBER = new Member(3, "12", "node-ä", "ab12", Device.HOST_MEMORY);
  private static final Member ON_GPU =
      new Member(
          2, "7", "node-b", "cd34", new Device(0, "NVIDIA H200", "GPU-2d1b", "0000:19:00.0"));

  private final MessageCodec codec = new MessageCodec();

  static Stream<Message> everyMessage() {
    return Stream.of(
        new Register(STAGE, 4, MEMBER, REACH, List.of(Offer.OF_HOST), List.of(1L, Long.MAX_VALUE)),
        new Register(
            STAGE,
            4,
            ON_GPU,
            new Reach("cd34", true, "libfabric 2.5.1"),
            List.of(Offer.not(Offer.NVSHMEM, "none"), Offer.of(Offer.NCCL, "NCCL 2.28.9")),
            List.of()),
        new Poll(STAGE, 3),
        new Publish(STAGE, 0, new WorldId(new byte[256])),
        new Ready(STAGE, 1),
        new Leave(STAGE, 1, true, 7, 37, "boom"),
        new Watch(
            "12",
            List.of(STAGE, new StageAttempt(0, 0)),
            List.of(1L << 40, 0L),
            List.of(new Ready(STAGE, 3)),
            List.of(5L)),
        new Counted(
            STAGE,
            1,
            true,
            List.of(new CallCount("allReduce", "host/packets", 64, 1000, 64_000, 1L << 40, 7))),
        new Linked(STAGE, List.of("ST", "TS")),
        new Report(2, "epoch 3, loss 0.1"),
        new ExecutorReady("12", "node-a"),
        new ExecutorFailure("12", "node-a", "no library"),
        new ExecutorReplaced("12", "node-a", "GPU 0 failed"),
        new Wait(1_000),
        new Assignment(
            Decision.RESET,
            5,
            Offer.NCCL,
            "NCCL 2.28.9",
            1,
            List.of(MEMBER, ON_GPU),
            new WorldId(new byte[] {1}),
            List.of(4L)),
        new Refused("over"),
        new Verdicts(50_000, List.of("", "lost"), List.of(false, true), List.of(4L)),
        new Acknowledged());
  }

  @ParameterizedTest
  @MethodSource("everyMessage")
  void aMessageArrivesAsItWasSent(Message message) throws MalformedMessageException {
    assertThat(codec.decode(codec.encode(message))).isEqualTo(message);
  }

  @ParameterizedTest
  @MethodSource("everyMessage")
  void aMessageThatIsCutOrHasMoreIsRefused(Message message) {
    byte[] bytes = codec.encode(message);
    for (int length = 0; length < bytes.length; length++) {
      assertRefused(Arrays.copyOf(bytes, length));
    }
    assertRefused(Arrays.copyOf(bytes, bytes.length + 1));
  }

  @ParameterizedTest
  @MethodSource("everyMessage")
  void flippedBitsGiveAMessageOrARefusalAndNothingElse(Message message) {
    byte[] bytes = codec.encode(message);
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      decodeOrRefuse(flipped);
    }
  }

  @Test
  void randomBytesGiveAMessageOrARefusalAndNothingElse() {
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[1 + random.nextInt(64)];
      random.nextBytes(bytes);
      bytes[0] = MessageCodec.VERSION;
      decodeOrRefuse(bytes);
    }
  }

  @Test
  void anotherVersionIsRefusedWithTheRemedy() {
    byte[] bytes = codec.encode(new Acknowledged());
    bytes[0]++;
    assertThatExceptionOfType(MalformedMessageException.class)
        .isThrownBy(() -> codec.decode(bytes))
        .withMessageContaining("must have the same Sparkgap jar");
  }

  @Test
  void aClassByNameIsRefusedUnread() {
    byte[] name = "java.util.HashMap".getBytes(java.nio.charset.StandardCharsets.UTF_8);
    byte[] bytes = new byte[3 + name.length];
    bytes[0] = MessageCodec.VERSION;
    bytes[1] = 1;
    System.arraycopy(name, 0, bytes, 3, name.length);
    assertRefused(bytes);
  }

  @Test
  void aLengthThatIsALieIsRefusedBeforeItIsAllocated() {
    byte[] bytes = codec.encode(new Refused("x"));
    // The length of the text is the last byte but one: make it 2^35 - 1.
    byte[] lie = Arrays.copyOf(bytes, bytes.length + 3);
    Arrays.fill(lie, bytes.length - 2, lie.length - 1, (byte) 0xff);
    lie[lie.length - 1] = 0x7f;
    assertRefused(lie);
  }

  @Test
  void aTextThatIsTooLongIsCut() throws MalformedMessageException {
    Refused decoded =
        (Refused) codec.decode(codec.encode(new Refused("ä".repeat(FieldReader.MAX_CHARS + 1))));
    assertThat(decoded.reason()).hasSize(FieldReader.MAX_CHARS).endsWith("ä…");
  }

  @Test
  void anAssignmentOfTheLargestWorldFits() throws MalformedMessageException {
    List<Member> members =
        IntStream.range(0, 256)
            .mapToObj(
                partition ->
                    new Member(
                        partition,
                        Integer.toString(partition),
                        "a-host-with-a-long-name-0123456789.in.some.department.example.com",
                        "0123456789abcdef".repeat(4),
                        new Device(
                            partition,
                            "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
                            "GPU-01234567-89ab-cdef-0123-456789abcdef",
                            "00000000:19:00.0")))
            .toList();
    Message assignment =
        new Assignment(
            Decision.REBUILD,
            1,
            Offer.NVSHMEM,
            "x".repeat(FieldReader.MAX_CHARS),
            255,
            members,
            new WorldId(new byte[FieldReader.MAX_CARD_BYTES]),
            List.of());
    assertThat(codec.decode(codec.encode(assignment))).isEqualTo(assignment);
  }

  private void assertRefused(byte[] bytes) {
    assertThatExceptionOfType(MalformedMessageException.class)
        .isThrownBy(() -> codec.decode(bytes));
  }

  private void decodeOrRefuse(byte[] bytes) {
    try {
      assertThat(codec.decode(bytes)).isNotNull();
    } catch (MalformedMessageException e) {
      assertThat(e).hasMessageContaining("message");
    }
  }
}
