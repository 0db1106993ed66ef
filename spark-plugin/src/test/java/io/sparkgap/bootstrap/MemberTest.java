package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MemberTest {
  @Test
  void withoutGpusPesGoByHostThenExecutorThenPartition() {
    List<Member> inOrder =
        List.of(
            member(3, "2", "node-a"),
            member(1, "10", "node-a"),
            member(2, "10", "node-a"),
            member(0, "1", "node-b"));
    assertThat(sortedAgain(inOrder)).isEqualTo(inOrder);
  }

  @Test
  void executorsWithNumbersComeBeforeThoseWithNames() {
    List<Member> inOrder =
        List.of(
            member(0, "9", "node-a"),
            member(0, "10", "node-a"),
            member(0, "10-S1", "node-a"),
            member(0, "driver", "node-a"));
    assertThat(sortedAgain(inOrder)).isEqualTo(inOrder);
  }

  @Test
  void aNodeStaysTogetherWhateverItsHostsAreCalled() {
    List<Member> inOrder =
        List.of(
            new Member(0, "1", "127.0.0.1", "key 2", Device.HOST_MEMORY),
            new Member(1, "2", "127.0.0.3", "key 2", Device.HOST_MEMORY),
            new Member(2, "3", "127.0.0.2", "key 1", Device.HOST_MEMORY));
    assertThat(sortedAgain(inOrder)).isEqualTo(inOrder);
  }

  @Test
  void placesAreCountedNodeByNode() {
    List<Member> members =
        List.of(
            new Member(0, "1", "a", "a", Device.HOST_MEMORY),
            new Member(1, "2", "b", "b", Device.HOST_MEMORY),
            new Member(2, "3", "b", "b", Device.HOST_MEMORY));
    assertThat(Place.of(0, members)).isEqualTo(new Place(0, 3, 0, 1));
    assertThat(Place.of(2, members)).isEqualTo(new Place(2, 3, 1, 2));
    assertThat(Place.of(2, members).isWired()).isTrue();
    assertThat(Place.of(0, members.subList(0, 1)).isWired()).isFalse();
  }

  private static Member member(int partition, String executorId, String host) {
    return new Member(partition, executorId, host, host, Device.HOST_MEMORY);
  }

  private static List<Member> sortedAgain(List<Member> members) {
    List<Member> sorted = new ArrayList<>(members);
    Collections.shuffle(sorted, new Random(1));
    return Member.inPeOrder(sorted);
  }
}
