package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Groups whose members subscribe to patterns, while others create and delete topics. */
class GroupTopicsTest {
  private final ModelLog log = new ModelLog();
  private final Bench bench = new Bench(log);
  private int topics;

  private void create(int count, String prefix) {
    for (int i = 0; i < count; i++) {
      topics++;
      log.topic(topics, "%s%05d".formatted(prefix, topics), 1);
    }
  }

  private Heartbeat beat(String member, String... subscription) {
    return Bench.in(bench.beat(member), "sharded", List.of(subscription), null);
  }

  private Set<String> owned() {
    Set<String> owned = new TreeSet<>();
    log.topics.forEach(
        topic -> {
          var lease = log.lease(Bench.GROUP, new Shard(topic.id(), 0));
          if (lease != null && lease.owned()) {
            owned.add(topic.name());
          }
        });
    return owned;
  }

  private GroupState group() {
    return bench.core.find(Bench.GROUP);
  }

  @Test
  void aTopicMoreThanAThousandStopsNobody() {
    create(1_000, "tenant-");
    create(1, "other-");
    bench.activate(List.of());
    Heartbeat a = beat("a", "tenant-*");
    Heartbeat b = beat("b", "tenant-*");
    bench.send(a);
    bench.pass(2_000, a, b);
    assertThat(owned()).hasSize(1_000);

    create(500, "tenant-");
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(4_000, a, b);
    assertThat(group().members().live()).hasSize(2);
    assertThat(owned()).hasSize(1_500).allMatch(name -> name.startsWith("tenant-"));
    assertThat(group().topicsLeftOut()).isZero();
  }

  /** What a heartbeat and a command hold does not grow with the topics. */
  @Test
  void oneMoreTopicIsOneInTheCommand() {
    create(3_000, "tenant-");
    bench.activate(List.of());
    Heartbeat a = beat("a", "tenant-*");
    bench.send(a);
    bench.pass(2_000, a);
    bench.clear();

    create(1, "tenant-");
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(4_000, a);
    assertThat(owned()).hasSize(3_001);
    assertThat(bench.metaWrites())
        .filteredOn(MetaCommand.DeclareGroup.class::isInstance)
        .extracting(command -> ((MetaCommand.DeclareGroup) command).topics())
        .containsExactly(List.of("tenant-03001"));
  }

  /** What runs goes on; the rest is left out, and comes in when there is room again. */
  @Test
  void whatTheLogDoesNotTakeIsLeftOut() {
    log.groupTopicsMax = 1_000;
    create(990, "tenant-");
    bench.activate(List.of());
    Heartbeat a = beat("a", "tenant-*");
    bench.send(a);
    bench.pass(2_000, a);
    assertThat(owned()).hasSize(990);
    bench.clear();

    create(25, "tenant-");
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(20_000, a);
    assertThat(group().members().live()).hasSize(1);
    assertThat(owned()).hasSize(1_000);
    assertThat(group().topicsLeftOut()).isEqualTo(15);
    assertThat(bench.actions)
        .filteredOn(DispatcherAction.TopicsLeftOut.class::isInstance)
        .hasSize(1);

    // A member that joins is not refused for it, nor one that comes after a change of dispatcher.
    Heartbeat b = beat("b", "tenant-*");
    bench.send(b);
    bench.pass(2_000, a, b);
    assertThat(group().members().live()).hasSize(2);
    bench.activate(List.of());
    bench.pass(10_000, a, b);
    assertThat(group().members().live()).hasSize(2);
    assertThat(owned()).hasSize(1_000);

    log.groupTopicsMax = 2_000;
    bench.pass(bench.settings.rebalanceMillis() + 10_000, a, b);
    assertThat(owned()).hasSize(1_015);
    assertThat(group().topicsLeftOut()).isZero();
  }

  /** Clients of former versions name each topic that their patterns match. */
  @Test
  void namesMayBeTooManyToo() {
    log.groupTopicsMax = 1_000;
    create(1_200, "tenant-");
    bench.activate(List.of());
    Heartbeat a = beat("a", log.topics.stream().map(topic -> topic.name()).toArray(String[]::new));
    bench.send(a);
    bench.pass(10_000, a);
    assertThat(owned()).hasSize(1_000);
    assertThat(group().topicsLeftOut()).isEqualTo(200);
  }

  /** A topic that its user may not read does not end a member whose pattern matches it. */
  @Test
  void aPatternTakesInWhatItsUserMayConsume() {
    create(2, "tenant-a-");
    create(2, "tenant-b-");
    bench.activate(List.of());
    Heartbeat a =
        Heartbeats.with(
            beat("a", "tenant-*"), "mayConsume", List.of("tenant-a-*", "tenant-b-00004"));
    bench.send(a);
    bench.pass(2_000, a);
    assertThat(owned()).containsExactly("tenant-a-00001", "tenant-a-00002", "tenant-b-00004");
  }

  @Test
  void aDeletedTopicGoesAndTheOthersStay() {
    create(3, "tenant-");
    bench.activate(List.of());
    Heartbeat a = beat("a", "tenant-*");
    bench.send(a);
    bench.pass(2_000, a);
    log.topics.remove(1);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(10_000, a);
    assertThat(group().members().live()).hasSize(1);
    assertThat(owned()).containsExactly("tenant-00001", "tenant-00003");
  }

  /** What a change of topics costs does not grow with the topics that it does not concern. */
  @Test
  void aChangeOfATopicConcernsOnlyItsReaders() {
    create(3_000, "tenant-");
    bench.activate(List.of());
    Heartbeat a = beat("a", "tenant-*");
    bench.send(a);
    bench.pass(2_000, a);
    int plans = bench.plans;
    bench.clear();

    create(1, "other-");
    bench.run(bench.core.topicsChanged(bench.now));
    assertThat(bench.plans).isEqualTo(plans);
    assertThat(bench.actions)
        .hasSize(1)
        .allMatch(action -> action instanceof DispatcherAction.ReadView);

    bench.clear();
    create(1, "tenant-");
    bench.run(bench.core.topicsChanged(bench.now));
    assertThat(bench.actions)
        .filteredOn(DispatcherAction.ReadLeases.class::isInstance)
        .extracting(action -> ((DispatcherAction.ReadLeases) action).topics())
        .containsExactly(Set.of(3_002));
  }
}
