package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class TopologyTest {
  private static final PeInfo FIRST = new PeInfo(0, 0, "a", "1", 0, "host memory");
  private static final PeInfo SECOND = new PeInfo(1, 0, "a", "2", 1, "host memory");
  private static final PeInfo THIRD = new PeInfo(2, 1, "b", "3", 2, "host memory");

  @Test
  void pesOfOneHostShareMemory() {
    Topology topology = new Topology(List.of(FIRST, SECOND));
    assertThat(topology.link(0, 1)).isEqualTo(Link.SHM);
    assertThat(topology.nodes()).isEqualTo(1);
  }

  @Test
  void pesOfSeveralNodesAreLinkedByTheWire() {
    List<List<Link>> links =
        List.of(
            List.of(Link.SHM, Link.SHM, Link.TCP),
            List.of(Link.SHM, Link.SHM, Link.TCP),
            List.of(Link.TCP, Link.TCP, Link.SHM));
    Topology topology = new Topology(List.of(FIRST, SECOND, THIRD), links);
    assertThat(topology.nodes()).isEqualTo(2);
    assertThat(topology.link(0, 1)).isEqualTo(Link.SHM);
    assertThat(topology.link(2, 1)).isEqualTo(Link.TCP);
  }

  @Test
  void gpusAreLinkedAsTheDriverSays() {
    List<List<Link>> links =
        List.of(
            List.of(Link.SHM, Link.NVLINK, Link.PCIE),
            List.of(Link.NVLINK, Link.SHM, Link.PCIE),
            List.of(Link.PCIE, Link.PCIE, Link.SHM));
    Topology topology = new Topology(List.of(FIRST, SECOND, THIRD), links);
    assertThat(topology.link(0, 1)).isEqualTo(Link.NVLINK);
    assertThat(topology.link(2, 1)).isEqualTo(Link.PCIE);
    assertThatThrownBy(() -> topology.link(0, 3)).hasMessageContaining("there is no PE 3");
    assertThatThrownBy(() -> new Topology(List.of(FIRST, SECOND), links))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a topology of 2 PEs needs as many rows of as many links");
  }

  @Test
  void pesMustBeInOrder() {
    assertThatThrownBy(() -> new Topology(List.of(SECOND, FIRST)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("entry 0 of a topology must be PE 0");
    assertThatThrownBy(() -> new Topology(List.of())).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Topology(List.of(FIRST)).link(0, 1))
        .hasMessageContaining("there is no PE 1");
  }

  @Test
  void aRouteIsWrittenAsProviderAndAlgorithm() {
    assertThat(Route.parse("host/one-shot")).isEqualTo(new Route("host", "one-shot"));
    assertThat(new Route("host", "one-shot")).hasToString("host/one-shot");
  }
}
