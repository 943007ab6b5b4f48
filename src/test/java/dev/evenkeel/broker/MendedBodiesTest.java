package dev.evenkeel.broker;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refusal;
import static dev.evenkeel.broker.machine.Rig.batch;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.broker.node.BodyMender;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.bus.BodyAnswer;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.storage.segment.SegmentCheck;
import dev.evenkeel.storage.segment.Segments;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Bodies that rot on the disk, as their readers see it. */
class MendedBodiesTest {
  private static final int BATCHES = 5;

  @Closing private Bench bench;
  private Shard shard;

  private void begin(String... nodes) throws Exception {
    bench = new Bench(0, new JsonObject(), 1, nodes);
    shard = new Shard(bench.create("orders", 1).id(), 0);
    times(BATCHES, i -> get(bench.append(shard, batch(0, 0, 0, 2, 1_000 * i))));
    bench.grant("g", shard, "a", 0);
  }

  private BrokerNode node(String name) {
    return bench.nodes.get(name);
  }

  private void damage(String name, long offset) throws IOException {
    DataState state = node(name).data().get(0);
    IndexEntry entry = state.read(store -> BatchIndex.at(store, shard, offset));
    Damage.endOf(state.bytes(entry), bench.directories.get(name).resolve("bodies"));
  }

  private List<Long> offsets(long from) throws Exception {
    return get(bench.fetch("g", shard, 1, from, 0)).batches().stream()
        .map(FetchAnswer.Placed::baseOffset)
        .toList();
  }

  private void assertSound(String name) throws IOException {
    Segments segments = ((SegmentBodies) node(name).data().get(0).bodies()).segments();
    for (Segments.Info info : segments.list()) {
      assertThat(segments.check(info.number(), read -> {}))
          .isEqualTo(new SegmentCheck(true, List.of()));
    }
  }

  @Test
  void aReaderWaitsUntilAReplicaHasSentTheBody() throws Exception {
    begin("n1", "n2", "n3");
    damage("n1", 6);
    damage("n2", 6);
    assertThat(offsets(6)).containsExactly(6L, 8L);
    BodyMender mender = node("n1").maintenance().mender(0);
    assertThat(mender.mendedBodies()).isEqualTo(1);
    assertThat(mender.lostBodies()).isZero();
    assertSound("n1");
    // It was asked for its copy, and has noticed.
    await().until(() -> node("n2").maintenance().mender(0).mendedBodies() == 1);
    assertSound("n2");
    assertThat(node("n3").maintenance().mender(0).damagedBodies()).isZero();
    bench
        .nodes
        .values()
        .forEach(
            node ->
                assertThat(node.log().data().get(0).elections().eligibility().reasons()).isEmpty());
  }

  @Test
  void anErrorInMendingDoesNotLeaveReadersWaiting() throws Exception {
    begin("n1", "n2");
    damage("n1", 6);
    node("n1")
        .maintenance()
        .askReplicas(
            (to, group, index) -> {
              throw new InternalError("a disk cannot read a file that is mapped");
            });
    assertThat(refusal(bench.fetch("g", shard, 1, 6, 0)).refusal()).isEqualTo(UNAVAILABLE);
    assertThat(node("n1").maintenance().mender(0).lostBodies()).isZero();
  }

  /** While messages come in, others have always applied more than this node. */
  @Test
  void theAnswerOfANodeThatIsAheadCountsWhenThisOneHasAppliedAsMuch() throws Exception {
    begin("n1", "n2");
    damage("n1", 6);
    DataState own = node("n1").data().get(0);
    node("n1")
        .maintenance()
        .askReplicas(
            (to, group, index) -> {
              long ahead = own.appliedIndex() + 1;
              bench.append(shard, batch(0, 0, 0, 2));
              return CompletableFuture.completedFuture(
                  BodyAnswer.without(BodyAnswer.Have.MISSING, ahead));
            });
    assertThat(offsets(6)).startsWith(8L);
    assertThat(node("n1").maintenance().mender(0).lostBodies()).isEqualTo(1);
  }

  @Test
  void aScrubFindsWhatNobodyReads() throws Exception {
    begin("n1", "n2");
    damage("n2", 0);
    damage("n2", 4);
    node("n2").maintenance().scrub();
    await().until(() -> node("n2").maintenance().mender(0).mendedBodies() == 2);
    assertSound("n2");
    assertThat(node("n2").maintenance().scrub(0).bytes()).isPositive();
  }

  @Test
  void consumersPassWhatIsDamagedOnEveryNode() throws Exception {
    begin("n1", "n2");
    damage("n1", 2);
    damage("n2", 2);
    assertThat(offsets(3)).containsExactly(4L, 6L, 8L);
    assertThat(offsets(0)).containsExactly(0L, 4L, 6L, 8L);
    assertThat(node("n1").maintenance().mender(0).lostBodies()).isEqualTo(1);
    assertThat(node("n1").maintenance().mender(0).lostMessages()).isEqualTo(2);
    assertThat(node("n1").maintenance().mender(0).lostMessagesTotal()).isEqualTo(2);
    node("n1").maintenance().scrub();
    assertThat(offsets(2)).containsExactly(4L, 6L, 8L);
    assertThat(node("n1").maintenance().mender(0).lostMessages()).isEqualTo(2);
    assertThat(node("n1").log().data().get(0).elections().eligibility().reasons()).isEmpty();
  }

  @Test
  void aLoneNodeSaysWhatIsLostAndConsumersPassIt() throws Exception {
    begin("n1");
    damage("n1", 8);
    RefusedException refused = refusal(bench.fetch("g", shard, 1, 8, 0));
    assertThat(refused).isInstanceOf(RefusedException.OutOfRange.class);
    assertThat(((RefusedException.OutOfRange) refused).start()).isEqualTo(2L * BATCHES);
    assertThat(offsets(6)).containsExactly(6L);
    assertThat(get(bench.browse(shard, 8, 0)).batches()).isEmpty();
    get(bench.append(shard, batch(0, 0, 0, 2)));
    assertThat(offsets(8)).containsExactly(2L * BATCHES);
    assertThat(get(bench.browse(shard, 8, 0)).batches()).hasSize(1);
    assertThat(node("n1").maintenance().mender(0).lostMessages()).isEqualTo(2);
  }
}
