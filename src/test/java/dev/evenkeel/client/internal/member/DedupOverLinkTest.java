package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.NodeSettings;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.ClusteredCoordinator;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.Departure;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.Ticket;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.gateway.GatewayVerticle;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Sessions and a member of the cluster use the same automata: the map of a real node, of which the
 * gateway carries out the steps of sessions.
 */
class DedupOverLinkTest {
  private static final long MINUTE = 60_000;

  /** Nothing is asked again and nothing goes ahead: messages alone must do. */
  private static final ClusteredCoordinator.Settings BY_MESSAGE =
      new ClusteredCoordinator.Settings(MINUTE, MINUTE, MINUTE);

  private static ClusterMember node;
  private static long keys;

  @BeforeAll
  static void start() {
    node = await(ClusterMembers.node(NodeSettings.lone(TestPorts.take(3))));
    await(node.vertx().deployVerticle(new GatewayVerticle()));
  }

  @AfterAll
  static void stop() {
    await(node.close());
  }

  private static SharedAutomata automata(String session) {
    Link link = new VertxLink(node.vertx(), session);
    return await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> LinkAutomata.of(link, session), automata -> automata != null);
  }

  private static Ticket<DedupKey> ask(ClusteredCoordinator at, DedupKey key) {
    Ticket<DedupKey> ticket = at.enQueue(key, new Worker("m", 0, 0), 0);
    await().atMost(Duration.ofSeconds(60)).until(() -> ticket.answer() != null);
    return ticket;
  }

  /**
   * Waits until messages wake the waiters of {@code to}: where it listens is told to the cluster
   * while the test goes on.
   */
  private static void awaitWaking(ClusteredCoordinator from, ClusteredCoordinator to) {
    Wait.until(
        () -> {
          DedupKey key = new DedupKey(keys++, -2);
          Ticket<DedupKey> head = ask(from, key);
          Ticket<DedupKey> waiter = ask(to, key);
          from.deQueue(head, 0);
          try {
            waiter.turn().toCompletableFuture().get(1, TimeUnit.SECONDS);
            return true;
          } catch (TimeoutException e) {
            return false;
          } finally {
            to.deQueue(waiter, 0);
          }
        });
  }

  @Test
  void sessionsAndMembersMeetInOneAutomatonAndAreWokenByMessages() {
    SharedAutomata one = automata("s-one");
    SharedAutomata two = automata("s-two");
    ClusteredCoordinator atOne = new ClusteredCoordinator(one, BY_MESSAGE, 0);
    ClusteredCoordinator atTwo = new ClusteredCoordinator(two, BY_MESSAGE, 0);
    ClusteredCoordinator atNode = new ClusteredCoordinator(node.dedup(), BY_MESSAGE, 0);
    awaitWaking(atOne, atTwo);
    awaitWaking(atTwo, atNode);
    long now = node.dedup().nowMillis();
    assertThat(one.nowMillis()).isBetween(now - MINUTE, now + MINUTE);
    for (long i = 0; i < 20; i++) {
      DedupKey key = new DedupKey(i, i << 40);
      Ticket<DedupKey> head = ask(atOne, key);
      Ticket<DedupKey> waiter = ask(atTwo, key);
      Ticket<DedupKey> third = ask(atNode, key);
      assertThat(head.answer()).isEqualTo(Answer.ACCEPT);
      assertThat(waiter.answer()).isEqualTo(Answer.BLOCK);
      assertThat(third.answer()).isEqualTo(Answer.DECLINE);
      assertThat(await(atOne.deQueue(head, 0))).isEqualTo(Departure.PASSED_ON);
      assertThat(await(waiter.turn())).isEqualTo(Answer.ACCEPT);
      Ticket<DedupKey> last = ask(atNode, key);
      assertThat(await(atTwo.deQueue(waiter, 0))).isEqualTo(Departure.PASSED_ON);
      assertThat(await(last.turn())).isEqualTo(Answer.ACCEPT);
      assertThat(await(atNode.deQueue(last, 0))).isEqualTo(Departure.FREED);
    }
  }

  @Test
  void theClaimsOfASessionAreSweptWhenItHasEnded() {
    ClusteredCoordinator ended = new ClusteredCoordinator(automata("s-ended"), BY_MESSAGE, 0);
    ClusteredCoordinator alive = new ClusteredCoordinator(automata("s-alive"), BY_MESSAGE, 0);
    awaitWaking(ended, alive);
    DedupKey key = new DedupKey(-1, -1);
    ask(ended, key);
    Ticket<DedupKey> waiter = ask(alive, key);
    assertThat(await(node.dedup().sweep(node.members(), Set.of())).unknown())
        .contains("s-ended", "s-alive");
    assertThat(await(node.dedup().sweep(node.members(), Set.of("s-ended"))).evicted()).isOne();
    assertThat(await(waiter.turn())).isEqualTo(Answer.ACCEPT);
    assertThat(await(alive.deQueue(waiter, 0))).isEqualTo(Departure.FREED);
  }
}
