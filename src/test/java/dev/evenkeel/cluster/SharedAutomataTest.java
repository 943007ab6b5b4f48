package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.Futures;
import dev.evenkeel.Refused;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.ClusteredCoordinator;
import dev.evenkeel.dedup.ClusteredCoordinator.Settings;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.DedupScope;
import dev.evenkeel.dedup.Departure;
import dev.evenkeel.dedup.KeyInFlight;
import dev.evenkeel.dedup.SharedClaim;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.Ticket;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Real members of one cluster: two nodes, and a client without data. Each test finds all three, and
 * nothing in the map.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SharedAutomataTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final long MINUTE = 60_000;

  /** Nothing is asked again and nothing goes ahead: messages alone must do. */
  private static final Settings BY_MESSAGE = new Settings(MINUTE, MINUTE, MINUTE);

  private static final Settings SOON = new Settings(MINUTE, 50, MINUTE);

  private final HostPort first = new HostPort("127.0.0.1", TestPorts.take(4));
  private final HostPort second = new HostPort("127.0.0.1", TestPorts.take(4));
  private final String name = "dedup-" + first.port();
  private ClusterMember one;
  private ClusterMember two;
  private ClusterMember client;
  private int keys;

  @BeforeEach
  void join() {
    one = one == null ? node(first) : one;
    two = two == null ? node(second) : two;
    Wait.until(() -> one.dataMembers() == 2 && two.dataMembers() == 2);
    if (client == null) {
      client = result(LiteMember.join(first.port(), name));
    }
    Wait.until(() -> one.members().size() == 3 && two.members().size() == 3);
    Wait.until(() -> hazelcast().getPartitionService().isClusterSafe());
    hazelcast().getMap(HazelcastAutomata.MAP).clear();
  }

  private ClusterMember node(HostPort at) {
    return result(
        ClusterMembers.node(
            new NodeSettings(at.host(), at.host(), at.port(), List.of(first, second), name)));
  }

  @AfterAll
  void leave() {
    for (ClusterMember member : Arrays.asList(client, two, one)) {
      if (member != null) {
        result(member.close());
      }
    }
  }

  private static ClusteredCoordinator at(ClusterMember member, Settings settings) {
    return new ClusteredCoordinator(member.dedup(), settings, 0);
  }

  private DedupKey key() {
    return new DedupScope("g", "t").key(("k" + keys++).getBytes(StandardCharsets.UTF_8));
  }

  private static Ticket<DedupKey> ask(ClusteredCoordinator at, DedupKey key) {
    Ticket<DedupKey> ticket = at.enQueue(key, new Worker("m", 0, 0), 0);
    await()
        .atMost(LONG)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .until(() -> ticket.answer() != null);
    return ticket;
  }

  private static Answer turn(Ticket<DedupKey> ticket) {
    return result(ticket.turn());
  }

  private static Departure giveBack(ClusteredCoordinator at, Ticket<DedupKey> ticket) {
    return result(at.deQueue(ticket, 0));
  }

  /**
   * Waits until a message of {@code from} wakes a waiter of {@code to}: where that one listens is
   * told to the cluster while the test goes on.
   */
  private void awaitWaking(ClusteredCoordinator from, ClusteredCoordinator to) {
    await()
        .atMost(LONG)
        .pollDelay(Duration.ZERO)
        .until(
            () -> {
              DedupKey key = key();
              Ticket<DedupKey> head = ask(from, key);
              Ticket<DedupKey> waiter = ask(to, key);
              giveBack(from, head);
              try {
                waiter.turn().toCompletableFuture().get(1, TimeUnit.SECONDS);
                return true;
              } catch (TimeoutException e) {
                return false;
              } finally {
                giveBack(to, waiter);
              }
            });
  }

  /** Whoever asks, the node that holds a bucket answers for it. */
  @Test
  void keysThatAreHeldForLongAreSeenByAll() {
    ClusteredCoordinator atClient = at(client, BY_MESSAGE);
    List<DedupKey> held = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      DedupKey key = key();
      ask(atClient, key);
      held.add(key);
    }
    ask(at(two, BY_MESSAGE), held.get(0));
    for (ClusterMember each : List.of(one, two)) {
      List<KeyInFlight> seen = result(each.dedup().heldFor(0));
      assertThat(seen).extracting(KeyInFlight::key).containsExactlyInAnyOrderElementsOf(held);
      assertThat(seen).allMatch(key -> key.head().member().equals(client.id()));
      assertThat(seen.stream().filter(key -> key.tail() != null))
          .singleElement()
          .satisfies(key -> assertThat(key.key()).isEqualTo(held.get(0)))
          .satisfies(key -> assertThat(key.tail().member()).isEqualTo(two.id()));
      assertThat(result(each.dedup().heldFor(MINUTE))).isEmpty();
    }
  }

  @Test
  void membersMeetInOneAutomatonAndTheWaiterIsWokenByAMessage() {
    ClusteredCoordinator atOne = at(one, BY_MESSAGE);
    ClusteredCoordinator atTwo = at(two, BY_MESSAGE);
    ClusteredCoordinator atClient = at(client, BY_MESSAGE);
    awaitWaking(atOne, atClient);
    long blocked = atClient.figures().blocked();
    // Keys of all parts of the map.
    for (int round = 0; round < 100; round++) {
      DedupKey key = key();
      Ticket<DedupKey> head = ask(atOne, key);
      Ticket<DedupKey> waiter = ask(atClient, key);
      Ticket<DedupKey> third = ask(atTwo, key);
      assertThat(List.of(head.answer(), waiter.answer(), third.answer()))
          .containsExactly(Answer.ACCEPT, Answer.BLOCK, Answer.DECLINE);
      assertThat(waiter.turn().toCompletableFuture()).isNotDone();
      assertThat(giveBack(atOne, head)).isEqualTo(Departure.PASSED_ON);
      assertThat(turn(waiter)).isEqualTo(Answer.ACCEPT);
      assertThat(giveBack(atClient, waiter)).isEqualTo(Departure.FREED);
    }
    assertThat(entries()).isZero();
    assertThat(atOne.figures().lost() + atClient.figures().lost()).isZero();
    assertThat(atClient.figures().blocked() - blocked).isEqualTo(100);
    assertThat(atTwo.figures().declined()).isEqualTo(100);
  }

  @Test
  void twoConsumersOfOneProcessAreTwo() {
    ClusteredCoordinator first = at(client, BY_MESSAGE);
    ClusteredCoordinator second = at(client, BY_MESSAGE);
    awaitWaking(first, second);
    DedupKey key = key();
    Ticket<DedupKey> head = ask(first, key);
    Ticket<DedupKey> waiter = ask(second, key);
    assertThat(waiter.answer()).isEqualTo(Answer.BLOCK);
    giveBack(first, head);
    assertThat(turn(waiter)).isEqualTo(Answer.ACCEPT);
  }

  @Test
  void theClaimsOfADeadMemberAreSweptAndItsWaiterIsWoken() {
    ClusteredCoordinator atClient = at(client, BY_MESSAGE);
    ClusteredCoordinator atTwo = at(two, BY_MESSAGE);
    ClusteredCoordinator atOne = at(one, BY_MESSAGE);
    awaitWaking(atOne, atTwo);
    List<Ticket<DedupKey>> waiters = new ArrayList<>();
    Set<DedupKey> free = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      DedupKey key = key();
      ask(atClient, key);
      waiters.add(ask(atTwo, key));
      ask(atClient, key = key());
      free.add(key);
    }
    String dead = client.id();
    assertThat(result(one.dedup().sweep(one.members(), Set.of())))
        .isEqualTo(new ClusterAutomata.Sweep(0, Set.of(), true));
    crash(client);
    client = null;
    Wait.until(() -> one.members().size() == 2);
    assertThat(result(one.dedup().sweep(one.members(), Set.of())))
        .isEqualTo(new ClusterAutomata.Sweep(0, Set.of(dead), true));
    assertThat(result(one.dedup().sweep(one.members(), Set.of(dead))))
        .isEqualTo(new ClusterAutomata.Sweep(60, Set.of(), true));
    waiters.forEach(waiter -> assertThat(turn(waiter)).isEqualTo(Answer.ACCEPT));
    free.forEach(key -> assertThat(ask(atOne, key).answer()).isEqualTo(Answer.ACCEPT));
  }

  @Test
  void aProcessIsHeardIfAMajorityOfTheVotersCountsItAsAMember() {
    one.voters(() -> 2);
    two.voters(() -> 2);
    for (ClusterMember each : List.of(one, two, client)) {
      result(each.dedup().heard());
      assertThat(each.dedup().silentMillisMax()).isEqualTo(5_000);
    }
    DedupKey key = key();
    assertThat(result(client.dedup().step(service(client, key))).answer()).isEqualTo(Answer.ACCEPT);
    // The cluster has two more nodes, which are not in sight.
    one.voters(() -> 4);
    unavailable(client.dedup().heard());
    unavailable(two.dedup().step(service(two, key())));
    one.voters(() -> 0);
    two.voters(() -> 0);
    unavailable(one.dedup().heard());
    // Messages of topics do without.
    assertThat(ask(at(one, SOON), key()).answer()).isEqualTo(Answer.ACCEPT);
  }

  @Test
  void theSweepSparesServicesThatMayHaveBegunAnew() {
    List.of(one, two).forEach(each -> each.voters(() -> 2));
    for (int i = 0; i < 30; i++) {
      result(client.dedup().step(service(client, key())));
    }
    long placed = client.dedup().nowMillis() + 1_000;
    Set<String> ended = Set.of(client.id());
    Set<String> alive = Set.of(one.id(), two.id());
    assertThat(result(one.dedup().sweep(alive, ended, ended, placed - MINUTE)).evicted()).isZero();
    assertThat(result(one.dedup().sweep(alive, ended, Set.of(), placed)).evicted()).isZero();
    assertThat(result(one.dedup().sweep(alive, ended, ended, placed)).evicted()).isEqualTo(30);
  }

  private static Step service(ClusterMember member, DedupKey key) {
    Worker worker = new Worker(member.id(), Worker.SERVICE, 1);
    return new Step(Step.Kind.ENQUEUE, key, new SharedClaim(worker, 1, MINUTE, Long.MAX_VALUE));
  }

  private static void unavailable(CompletionStage<?> asked) {
    Refused.with(
        Refusal.UNAVAILABLE, () -> Futures.await(Future.fromCompletionStage(asked)), "no majority");
  }

  @Test
  void withANodeGoneNobodyWaitsForEver() {
    ClusteredCoordinator atClient = at(client, SOON);
    ClusteredCoordinator atTwo = at(two, SOON);
    List<Ticket<DedupKey>> heads = new ArrayList<>();
    List<Ticket<DedupKey>> waiters = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      DedupKey key = key();
      heads.add(ask(atClient, key));
      waiters.add(ask(atTwo, key));
    }
    crash(one);
    one = null;
    heads.forEach(head -> atClient.deQueue(head, 0));
    long[] now = {0};
    for (Ticket<DedupKey> waiter : waiters) {
      await()
          .atMost(LONG)
          .pollDelay(Duration.ZERO)
          .until(
              () -> {
                atTwo.tick(now[0] += 50);
                atClient.tick(now[0]);
                return waiter.turn().toCompletableFuture().isDone();
              });
      assertThat(turn(waiter)).isEqualTo(Answer.ACCEPT);
    }
    assertThat(atTwo.figures().unguarded()).isZero();
  }

  @Test
  void whenTheMapIsLostTheWaiterGoesAheadAndTheHeadLearnsIt() {
    ClusteredCoordinator atOne = at(one, SOON);
    ClusteredCoordinator atClient = at(client, SOON);
    DedupKey key = key();
    Ticket<DedupKey> head = ask(atOne, key);
    Ticket<DedupKey> waiter = ask(atClient, key);
    assertThat(entries()).isOne();
    hazelcast().getMap(HazelcastAutomata.MAP).clear();
    atClient.tick(50);
    assertThat(turn(waiter)).isEqualTo(Answer.ACCEPT);
    assertThat(giveBack(atOne, head)).isEqualTo(Departure.NOT_HEAD);
    assertThat(atOne.figures().lost()).isOne();
    assertThat(giveBack(atClient, waiter)).isEqualTo(Departure.FREED);
  }

  @Test
  void aHeadPastItsTimeIsEvictedByTheSweep() {
    ClusteredCoordinator atOne = at(one, new Settings(1, MINUTE, MINUTE));
    ClusteredCoordinator atClient = at(client, BY_MESSAGE);
    awaitWaking(at(two, BY_MESSAGE), atClient);
    DedupKey key = key();
    Ticket<DedupKey> head = ask(atOne, key);
    Ticket<DedupKey> waiter = ask(atClient, key);
    Wait.until(
        () ->
            result(two.dedup().sweep(two.members(), Set.of())).evicted() + evictions(atClient) > 0);
    assertThat(turn(waiter)).isEqualTo(Answer.ACCEPT);
    assertThat(giveBack(atOne, head)).isEqualTo(Departure.NOT_HEAD);
    assertThat(giveBack(atClient, waiter)).isEqualTo(Departure.FREED);
  }

  /** A slow start may let the waiter's own request evict the head. */
  private static long evictions(ClusteredCoordinator at) {
    return at.figures().evicted() + at.figures().accepted();
  }

  private static <T> T result(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join();
  }

  private static <T> T result(Future<T> future) {
    return ClusterMembersTest.result(future);
  }

  private HazelcastInstance hazelcast() {
    return TestHazelcast.at(first.hazelcast().port());
  }

  private int entries() {
    return hazelcast().getMap(HazelcastAutomata.MAP).size();
  }

  /** Ends its Hazelcast without a goodbye. */
  private static void crash(ClusterMember member) {
    for (HazelcastInstance each : Hazelcast.getAllHazelcastInstances()) {
      if (member.id().equals(each.getCluster().getLocalMember().getAttribute("__vertx.nodeId"))) {
        each.getLifecycleService().terminate();
      }
    }
    result(member.close());
  }
}
