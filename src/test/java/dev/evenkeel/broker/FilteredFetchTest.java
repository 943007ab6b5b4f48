package dev.evenkeel.broker;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class FilteredFetchTest {
  @Closing private Bench bench;
  private Shard shard;

  private void begin(Bench made) throws Exception {
    bench = made;
    shard = new Shard(bench.create("orders", 2).id(), 0);
  }

  private static Batch batch(String... keys) {
    BatchBuilder builder = new BatchBuilder(64);
    each(keys, key -> builder.add(Message.of(key, 1, new byte[100])));
    return builder.build(0, 0, 0);
  }

  private FetchRequest fetch(String group, long epoch, long offset, int wait, String... filter) {
    return new FetchRequest(
        group, shard, epoch, offset, 1 << 20, 1 << 20, 0, wait, MessageFilter.of(filter));
  }

  private static List<Long> bases(FetchAnswer answer) {
    return answer.batches().stream().map(FetchAnswer.Placed::baseOffset).toList();
  }

  @Test
  void aFetchThatWaitsEndsWithTheFirstMessageThatItWants() throws Exception {
    begin(Bench.one());
    bench.grant("g", shard, "a", 0);
    Future<FetchAnswer> waiting = bench.fetch(fetch("g", 1, 0, 15_000, "key=a"));
    get(bench.append(shard, batch("b", "c")));
    get(bench.append(shard, batch("d")));
    Future<FetchAnswer> plain = bench.fetch(fetch("g2", 1, 0, 0));
    refused(Refusal.FENCED, plain);
    assertThat(waiting.isComplete()).as("by what it does not want").isFalse();
    AppendResults last = get(bench.append(shard, batch("e", "a", "a", "f", "a")));
    FetchAnswer answer = get(waiting);
    assertThat(bases(answer)).containsExactly(4L, 7L);
    assertThat(answer.next()).isEqualTo(8);
    assertThat(answer.endOffset()).isEqualTo(8);
    assertThat(answer.batches())
        .allMatch(
            each -> each.log().equals(new LogPosition(bench.groupOf(shard), last.logIndex())));
  }

  @Test
  void whatIsNotWantedIsPassedOverAtTheEndOfTheWait() throws Exception {
    begin(Bench.one());
    bench.grant("g", shard, "a", 0);
    get(bench.append(shard, batch("b", "c")));
    for (int wait : new int[] {0, 50}) {
      // The wait may end before anything was looked at.
      Wait.untilAsserted(
          () -> {
            FetchAnswer answer = get(bench.fetch(fetch("g", 1, 0, wait, "key=a")));
            assertThat(answer.batches()).isEmpty();
            assertThat(answer.next()).isEqualTo(2);
          });
    }
    FetchAnswer nothing = get(bench.fetch(fetch("g", 1, 2, 50, "key=a")));
    assertThat(nothing.next()).isEqualTo(-1);
    FetchAnswer everything = get(bench.fetch(fetch("g", 1, 0, 50)));
    assertThat(bases(everything)).containsExactly(0L);
    assertThat(everything.next()).isEqualTo(-1);
  }

  @Test
  void messagesThatAreOnTheDiskAreFilteredToo() throws Exception {
    begin(new Bench(batch("a", "b").length(), new JsonObject(), 1, "n1"));
    bench.grant("g", shard, "a", 0);
    times(10, i -> get(bench.append(shard, batch("b" + i, "c"))));
    FetchAnswer answer = get(bench.fetch(fetch("g", 1, 3, 15_000, "key=b3", "key=b7", "key=b1")));
    assertThat(bases(answer)).containsExactly(6L, 14L);
    assertThat(answer.next()).isEqualTo(20);
  }

  @Test
  void aFetchIsRefusedWhenItsLeaseGoes() throws Exception {
    begin(Bench.one());
    bench.grant("g", shard, "a", 0);
    Future<FetchAnswer> waiting = bench.fetch(fetch("g", 1, 0, 15_000, "key=a"));
    bench.grant("g", shard, "b", 1);
    refused(Refusal.FENCED, waiting);
    Future<FetchAnswer> later = bench.fetch(fetch("g", 2, 0, 15_000, "key=a"));
    Future<FetchAnswer> again = bench.fetch(fetch("g", 2, 0, 15_000, "key=a"));
    assertThat(get(later).batches()).as("given up").isEmpty();
    bench.cluster.group("d" + bench.groupOf(shard)).lead("n2", true);
    refused(Refusal.NOT_LEADER, again);
  }

  @Test
  void aGroupOverItsQuotaGetsWhatItWantsLater() throws Exception {
    begin(Bench.one());
    Wait.until(() -> bench.nodes.get("n1").meta().tables().featureLevel() == FeatureLevel.NEWEST);
    Bytes body = new Bytes();
    Quota quota = Quota.perSecond(QuotaKind.GROUP, "g", 0, 10);
    CommandCodec.write(body, new MetaCommand.SetQuota(quota));
    assertThat(ReplyCodec.decode(bench.control(Op.SUBMIT_META, body))).isEqualTo(Reply.DONE);
    bench.grant("g", shard, "a", 0);
    get(bench.append(shard, batch("a", "b", "a", "a", "a", "a", "a")));
    FetchAnswer first = get(bench.fetch(fetch("g", 1, 0, 15_000, "key=a")));
    assertThat(bases(first)).containsExactly(0L, 2L);
    Future<FetchAnswer> behind = bench.fetch(fetch("g", 1, first.next(), 15_000, "key=a"));
    get(bench.append(shard, batch("b", "a")));
    assertThat(bases(get(behind))).containsExactly(8L);
  }

  @Test
  void manyFetchesWithAFilterWaitTogether() throws Exception {
    begin(Bench.one());
    Shard other = new Shard(shard.topicId(), 1);
    bench.grant("g", shard, "a", 0);
    bench.grant("g", other, "a", 0);
    MessageFilter filter = MessageFilter.of("key=a");
    FetchRequest first = fetch("g", 1, 0, 15_000, "key=a");
    FetchRequest second = new FetchRequest("g", other, 1, 0, 1 << 20, 1 << 20, 0, 15_000, filter);
    Future<FetchManyAnswer> waiting = bench.fetchMany(first, second);
    get(bench.append(shard, batch("b")));
    get(bench.append(other, batch("b", "a")));
    List<FetchManyAnswer.Part> parts = get(waiting).parts();
    var found = FetchAnswer.decode(Frames.answerBody(parts.get(parts.size() - 1).frame()), true);
    assertThat(bases(found)).containsExactly(1L);
  }

  @Test
  void thousandsWaitAndEachGetsItsOwn() throws Exception {
    begin(Bench.one());
    int consumers = 1_000;
    List<Future<FetchAnswer>> waiting = new ArrayList<>();
    for (int i = 0; i < consumers; i++) {
      FetchRequest request = fetch("", -1, 0, 15_000, "key=k" + i);
      waiting.add(
          bench
              .send(Addresses.data("n1"), Frames.request(Op.BROWSE, request.encode()))
              .map(answer -> FetchAnswer.decode(answer, true)));
    }
    get(bench.append(shard, batch("other", "k17", "k999", "k0")));
    assertThat(bases(get(waiting.get(17)))).containsExactly(1L);
    assertThat(bases(get(waiting.get(999)))).containsExactly(2L);
    assertThat(bases(get(waiting.get(0)))).containsExactly(3L);
    assertThat(waiting.stream().filter(Future::isComplete)).hasSize(3);
  }

  private final List<String> failures = new CopyOnWriteArrayList<>();

  /** A consumer that asks again with each answer, at once or a little later. */
  private final class Reader {
    final String key;
    final long lateMillis;
    final List<Long> found = new CopyOnWriteArrayList<>();

    Reader(String key, long lateMillis) {
      this.key = key;
      this.lateMillis = lateMillis;
    }

    void read(long offset) {
      FetchRequest request = fetch("", -1, offset, 15_000, "key=" + key);
      bench
          .send(Addresses.data("n1"), Frames.request(Op.BROWSE, request.encode()))
          .map(answer -> FetchAnswer.decode(answer, true))
          .onSuccess(answer -> take(offset, answer))
          .onFailure(failure -> failures.add(key + " from " + offset + ": " + failure));
    }

    private void take(long offset, FetchAnswer answer) {
      long next = Math.max(offset, answer.next());
      for (FetchAnswer.Placed placed : answer.batches()) {
        for (int i = 0; i < placed.batch().count(); i++) {
          if (placed.baseOffset() + i >= offset) {
            found.add(placed.baseOffset() + i);
          }
        }
        next = Math.max(next, placed.endOffset());
      }
      long from = next;
      if (lateMillis == 0) {
        read(from);
      } else {
        bench.vertx.setTimer(lateMillis, id -> read(from));
      }
    }
  }

  @Test
  void whoComesBackLateMissesNothingAndGetsNothingTwice() throws Exception {
    begin(Bench.one());
    Random random = new Random(17);
    List<Reader> readers = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      Reader reader = new Reader("k" + i % 20, random.nextInt(4) * 15L);
      readers.add(reader);
      reader.read(0);
    }
    Map<String, List<Long>> wanted = new HashMap<>();
    long offset = 0;
    for (int round = 0; round < 50; round++) {
      String[] keys = new String[1 + random.nextInt(50)];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = "k" + random.nextInt(40);
        wanted.computeIfAbsent(keys[i], any -> new ArrayList<>()).add(offset++);
      }
      get(bench.append(shard, batch(keys)));
    }
    for (Reader reader : readers) {
      Wait.untilAsserted(
          () ->
              assertThat(reader.found)
                  .as("failures: %s", failures)
                  .hasSameSizeAs(wanted.get(reader.key)));
      assertThat(reader.found).isEqualTo(wanted.get(reader.key));
    }
  }
}
