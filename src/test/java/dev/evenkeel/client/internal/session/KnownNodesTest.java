package dev.evenkeel.client.internal.session;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.protocol.HostPort;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KnownNodesTest {
  private static final HostPort SEED = new HostPort("seed", 5701);

  private final KnownNodes known = new KnownNodes(List.of(SEED));

  @Test
  void remembersTheSeedsAndEveryNodeThatAWelcomeNamed() {
    learn(node("n1", "a"), node("n2", "b"));
    learn(node("n2", "c"), node("n3", "d"));
    assertThat(known.present()).containsExactly("n2", "n3");
    assertThat(known.address("n2")).isEqualTo(new HostPort("c", 5701));
    assertThat(known.addresses())
        .containsExactlyInAnyOrder(SEED, at("a"), at("c"), at("d"))
        .startsWith(SEED);
    assertThat(known.address("n9")).isNull();
  }

  @Test
  void aSeedThatIsANodeIsOneAddress() {
    learn(node("n1", "seed"));
    assertThat(known.addresses()).containsExactly(SEED);
  }

  @Test
  void whatIsNoAddressIsLeftOut() {
    learn(node("n1", ""), new NodePlace("n2", "b", 0), new NodePlace(null, "c", 5701));
    assertThat(known.present()).isEmpty();
    assertThat(known.addresses()).containsExactly(SEED);
  }

  @Test
  void remembersTheLatestUpToALimit() {
    List<NodePlace> many = new ArrayList<>();
    times(KnownNodes.NODES_MAX + 10, i -> many.add(node("n" + i, "h" + i)));
    learn(many.toArray(NodePlace[]::new));
    assertThat(known.present()).hasSize(KnownNodes.NODES_MAX);
    learn(node("last", "z"));
    assertThat(known.addresses()).hasSize(1 + KnownNodes.NODES_MAX).contains(at("z"));
    assertThat(known.address("n0")).as("the oldest").isNull();
    assertThat(known.address("n1")).isNotNull();
  }

  private void learn(NodePlace... nodes) {
    known.learn(List.of(nodes));
  }

  private static NodePlace node(String id, String host) {
    return new NodePlace(id, host, 5701);
  }

  private static HostPort at(String host) {
    return new HostPort(host, 5701);
  }
}
