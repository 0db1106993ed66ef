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

  private static Member member(int partition, String executorId, String host) {
    return new Member(partition, executorId, host, Device.HOST_MEMORY);
  }

  private static List<Member> sortedAgain(List<Member> members) {
    List<Member> sorted = new ArrayList<>(members);
    Collections.shuffle(sorted, new Random(1));
    sorted.sort(Member.PE_ORDER);
    return sorted;
  }
}
