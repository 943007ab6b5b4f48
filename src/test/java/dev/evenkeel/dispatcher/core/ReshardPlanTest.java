package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Shards take the place of others, and wait for them. */
class ReshardPlanTest {
  private final ModelLog log = new ModelLog().topic(1, "t", 2);
  private final Bench bench = new Bench(log);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  private void begin() {
    bench.activate(List.of());
    bench.send(a, b).release(1);
    assertThat(owners(0, 2)).isEqualTo("ab");
  }

  private void reshard(int shards) {
    TopicInfo topic = log.topics.get(0);
    log.topics.set(0, topic.opening(shards, List.of()).opened(2_000));
    bench.run(bench.core.topicsChanged(bench.now));
  }

  private String owners(int from, int to) {
    StringBuilder owners = new StringBuilder();
    IntStream.range(from, to)
        .mapToObj(bench::lease)
        .forEach(lease -> owners.append(lease == null || !lease.owned() ? "-" : lease.owner()));
    return owners.toString();
  }

  private void finish(int shard) {
    change(bench.lease(shard).released(0, -1, null).at(Lease.Stage.FINISHED));
  }

  private void change(Lease lease) {
    log.leases.get("g").put(lease.shard(), lease);
    bench.run(bench.core.leaseChanged(LeaseChange.of(lease), bench.now));
  }

  @Test
  void aShardWaitsForThoseFromWhichItsKeysCome() {
    begin();
    reshard(4);
    bench.clear();
    bench.pass(2_000, a, b);
    assertThat(owners(0, 6)).isEqualTo("ab----");
    finish(0);
    bench.pass(1_000, a, b);
    assertThat(owners(0, 6)).matches("-b[ab]-[ab]-");
    finish(1);
    bench.pass(1_000, a, b);
    assertThat(owners(0, 6)).matches("--[ab]{4}");
    assertThat(owners(2, 6).chars().filter(each -> each == 'a')).hasSize(2);
    assertThat(bench.writes()).as("nothing moves twice").noneMatch(each -> each.contains("Drain"));
  }

  /** Shards without a message are finished when they are sealed, whatever lies before them. */
  @Test
  void aShardWaitsForThoseBeforeItsEmptyParents() {
    begin();
    reshard(4);
    bench.pass(1_000, a, b);
    reshard(2);
    for (int shard = 2; shard < 6; shard++) {
      Lease empty = Lease.fresh("g", new Shard(1, shard), 1, 0, Generation.FIRST);
      change(empty.at(Lease.Stage.FINISHED));
    }
    bench.pass(2_000, a, b);
    assertThat(owners(0, 8)).isEqualTo("ab------");
    finish(0);
    bench.pass(1_000, a, b);
    assertThat(owners(0, 8)).matches("-b----[ab]-");
    finish(1);
    bench.pass(1_000, a, b);
    assertThat(owners(0, 8)).matches("------[ab]{2}");
  }

  @Test
  void theFirstOwnerLearnsWhatTheShardContinues() {
    begin();
    reshard(1);
    finish(0);
    bench.pass(1_000, a, b);
    assertThat(owners(0, 3)).isEqualTo("-b-");
    finish(1);
    bench.pass(1_000, a, b);
    String owner = bench.lease(2).instance();
    assertThat(bench.told.get(owner).shards())
        .extracting(Assignment.Owned::origin)
        .containsExactly(new Assignment.Origin(List.of(0, 1), List.of(0, 1), 2, 1));
  }

  /**
   * The shard in the middle is passed over if nobody left a state there, also if it began behind
   * dropped messages. A node of a former version does not say whether there is a state.
   */
  @ParameterizedTest
  @CsvSource({
    "0, true, 0 1",
    "7, true, 0 1",
    "0, false, 0 1",
    "7, false, 2",
  })
  void aShardContinuesThoseWhoseStateNobodyTookOver(long committed, boolean said, String parents) {
    assertThat(originBehind(lease -> lease.released(committed, -1, null), said)).isEqualTo(parents);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aShardContinuesTheOneThatHasAState(boolean said) {
    assertThat(originBehind(lease -> lease.released(7, 7, new byte[1]), said)).isEqualTo("2");
  }

  @Test
  void soItDoesWhereDeadLettersWerePutBack() {
    assertThat(originBehind(lease -> lease.released(7, -1, null), Lease.Stage.PASSED, true))
        .isEqualTo("0 1");
  }

  private String originBehind(UnaryOperator<Lease> end, boolean said) {
    return originBehind(end, Lease.Stage.FINISHED, said);
  }

  /** Which shards the third layout continues after the only shard of the second one ended so. */
  private String originBehind(UnaryOperator<Lease> end, Lease.Stage stage, boolean said) {
    begin();
    reshard(1);
    finish(0);
    finish(1);
    bench.pass(1_000, a, b);
    reshard(1);
    Lease ended = end.apply(bench.lease(2)).at(stage);
    log.leases.get("g").put(ended.shard(), ended);
    JsonObject hint = LeaseChange.of(ended).toJson();
    if (!said) {
      hint.remove("stateOffset");
    }
    bench.run(bench.core.leaseChanged(LeaseChange.fromJson(hint), bench.now));
    bench.pass(1_000, a, b);
    return bench.told.get(bench.lease(3).instance()).shards().get(0).origin().parents().stream()
        .map(String::valueOf)
        .collect(Collectors.joining(" "));
  }

  @Test
  void aFinishedShardGetsAnOwnerAgainForWhatWasPutBack() {
    begin();
    reshard(2);
    finish(0);
    finish(1);
    bench.pass(1_000, a, b);
    assertThat(owners(0, 4)).matches("--[ab]{2}");
    change(bench.lease(0).at(Lease.Stage.PASSED));
    bench.pass(1_000, a, b);
    assertThat(owners(0, 4)).as("the others go on").matches("[ab]-[ab]{2}");
  }

  /** The messages of their keys that lie before come again. */
  @Test
  void noShardBeginsBeforeThoseOfItsKeysAreReset() {
    begin();
    reshard(2);
    finish(0);
    finish(1);
    bench.pass(1_000, a, b);
    assertThat(owners(0, 4)).matches("--[ab]{2}");
    bench.leaderless = 0;
    bench.reset(true, 0, 0, 1, 2, 3);
    bench.pass(1_000, a, b).release(2, 3).pass(3_000, a, b);
    assertThat(owners(0, 4)).matches("-[ab]--");
    bench.leaderless = -1;
    bench.pass(2_000, a, b);
    assertThat(owners(0, 4)).matches("[ab]{2}--");
  }

  @Test
  void anotherDispatcherKnowsWhichShardsAreOver() {
    begin();
    reshard(2);
    finish(0);
    bench.activate(List.of());
    bench.pass(8_000, a, b);
    assertThat(owners(0, 4)).matches("-[ab][ab]-");
    assertThat(bench.core.all().iterator().next().shards().get(new Shard(1, 0)).finished())
        .isTrue();
  }

  @Test
  void aFinishedShardStaysFreeBeforeTheTopicsAreKnownToHaveChanged() {
    begin();
    bench.clear();
    finish(0);
    bench.pass(2_000, a, b);
    assertThat(owners(0, 2)).isEqualTo("-b");
    assertThat(bench.writes()).as("nothing moves").isEmpty();
    reshard(2);
    finish(1);
    bench.pass(1_000, a, b);
    assertThat(owners(0, 4)).matches("--[ab]{2}");
  }
}
