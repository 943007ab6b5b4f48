package dev.evenkeel.client.internal.spool;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Views;
import dev.evenkeel.client.Router;
import dev.evenkeel.client.internal.spool.log.SpoolRecord;
import dev.evenkeel.client.internal.spool.log.SpoolState;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.Murmur2;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SpoolRerouteTest {
  private static final long PRODUCER = 7;
  private static final byte[] KEY = {1};
  private static final TopicInfo ONE =
      new TopicInfo(3, "t", 1, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 5);
  private static final TopicInfo TWO = ONE.opening(2, List.of()).opened(6);
  private static final TopicInfo THREE = TWO.opening(3, List.of()).opened(7);

  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  @Closing private final ClusterDirectory directory = new ClusterDirectory(link);

  /** By shard, what came for it. */
  private final Map<Integer, List<Integer>> taken = new TreeMap<>();

  /** By shard, the last sequence. */
  private final Map<Shard, Long> last = new HashMap<>();

  private TopicInfo topic = TWO;
  private int openEpoch;
  private Router router;

  @BeforeEach
  void serve() {
    link.serve(
        Addresses.VIEW,
        body -> {
          List<String> leaders = List.of("a", "a");
          return Future.succeededFuture(
              Views.of("a", "a", leaders, List.of("a"), List.of(TWO)).toJson().toBuffer());
        });
    link.serve(Addresses.control("a"), this::control);
    link.serve(Addresses.data("a"), this::append);
    await(directory.view());
  }

  private Future<Buffer> control(Buffer request) {
    ByteReader in = new ByteReader(Frames.body(request));
    int group = in.i32();
    int epoch = ((DataCommand.OpenPublisher) CommandCodec.data(in)).epoch();
    if (epoch < openEpoch) {
      Reply fenced = Reply.refused(Refusal.PRODUCER_FENCED, "later epoch");
      return Future.succeededFuture(Frames.answer(ReplyCodec.encode(fenced)));
    }
    openEpoch = epoch;
    Map<Shard, Long> inSealed = new HashMap<>(last);
    inSealed
        .keySet()
        .removeIf(shard -> shard.dataGroup(2) != group || !topic.isSealed(shard.shard()));
    Reply reply = inSealed.isEmpty() ? Reply.DONE : new Reply.OfSequences(inSealed);
    return Future.succeededFuture(Frames.answer(ReplyCodec.encode(reply)));
  }

  private Future<Buffer> append(Buffer request) {
    ByteBuffer body = Frames.body(request);
    if (Entry.HEADER_BYTES + body.remaining() > Limits.ENTRY_BYTES_MAX) {
      return Future.succeededFuture(Frames.refusal(Refusal.TOO_LARGE, "append"));
    }
    List<Result> results = AppendBody.read(body).stream().map(this::append).toList();
    return Future.succeededFuture(Frames.answer(new AppendResults(1, results).encode()));
  }

  private Result append(AppendBody.Item item) {
    long first = item.batch().firstSequence();
    boolean rerouted = item.batch().producerId() == SpoolPublisher.id(PRODUCER);
    if (rerouted && first <= last.getOrDefault(item.shard(), -1L)) {
      return new Result(null, Result.OFFSET_FORGOTTEN);
    }
    if (topic.isSealed(item.shard().shard())) {
      return new Result(Refusal.SEALED, 0);
    }
    last.put(item.shard(), first + item.batch().count() - 1);
    List<Integer> numbers = taken.computeIfAbsent(item.shard().shard(), none -> new ArrayList<>());
    for (BatchReader messages = item.batch().reader(0); messages.hasNext(); ) {
      numbers.add(ByteBuffer.wrap(messages.next().payload()).getInt());
    }
    return new Result(null, Result.OFFSET_FORGOTTEN);
  }

  private List<SpoolReroute.Moved> move(SpoolState spool, SpoolReroute.Item... items) {
    SpoolReroute reroute = new SpoolReroute(link, directory, spool, false, router);
    return await(reroute.move(topic, 1, List.of(items)));
  }

  /** A spool in one of its runs, of which the first has an epoch. */
  private static SpoolState spool(int epoch, int run) {
    SpoolState spool = SpoolState.fresh(new SpoolState.Identity("t", TWO.id(), 5, "p", PRODUCER));
    for (int i = 1; i <= run; i++) {
      spool.apply(new SpoolRecord.Run(i, i == 1, null));
      if (i == 1) {
        spool.apply(new SpoolRecord.Opened(1, PRODUCER, epoch, Map.of()));
      }
    }
    return spool;
  }

  private static SpoolReroute.Item item(int shard, int place, int number, int bytes) {
    BatchBuilder builder = new BatchBuilder(100);
    byte[] payload = ByteBuffer.allocate(bytes).putInt(number).array();
    builder.add(new Message(KEY, Map.of(), 0, payload));
    return new SpoolReroute.Item(shard, builder.build(PRODUCER, 0, 0), place, 0, false);
  }

  private static int shard(TopicInfo of) {
    return of.open().first() + Murmur2.shard(KEY, of.shards());
  }

  /** A frame may have messages for two layouts, of which only the first were moved at first. */
  @Test
  void whatShardsInBetweenTookIsNotTakenForWhatWasTheirOwn() {
    SpoolReroute.Item former = item(0, 0, 1, 10);
    SpoolReroute.Item later = item(shard(TWO), 1, 2, 10);
    move(spool(0, 1), former);
    assertThat(taken).isEqualTo(Map.of(shard(TWO), List.of(1)));

    topic = THREE;
    List<SpoolReroute.Moved> moved = move(spool(0, 2), former, later);
    assertThat(taken).isEqualTo(Map.of(shard(TWO), List.of(1), shard(THREE), List.of(2)));
    assertThat(moved)
        .extracting(each -> each.shards()[0])
        .containsExactly(shard(TWO), shard(THREE));
  }

  @Test
  void aFrameThatIsLargerThanARequestIsMovedInOrder() {
    int[] numbers = IntStream.range(0, 8).toArray();
    SpoolReroute.Item[] items =
        IntStream.of(numbers)
            .mapToObj(i -> item(0, i, i, 600_000))
            .toArray(SpoolReroute.Item[]::new);
    move(spool(0, 1), items);
    assertThat(taken.get(shard(TWO)))
        .containsExactly(IntStream.of(numbers).boxed().toArray(Integer[]::new));
  }

  /** Another spool of the name has the id of the former one, and its runs count anew. */
  @Test
  void aNewSpoolOfANameIsLaterThanAllRunsOfTheFormerOne() {
    move(spool(1, 1), item(0, 0, 1, 10));
    move(spool(1, 5), item(0, 1, 2, 10));
    move(spool(2, 1), item(0, 2, 3, 10));
    assertThat(taken.get(shard(TWO))).containsExactly(1, 2, 3);
  }

  /** Clients of 0.1.0 open the number of the run. */
  @Test
  void aSpoolGoesOnAfterRunsOfAFormerClient() {
    openEpoch = 4;
    move(spool(0, 5), item(0, 0, 1, 10));
    assertThat(taken.get(shard(TWO))).containsExactly(1);
  }

  @Test
  void aRouterChoosesTheShardsOfKeysAsItDoesForNewMessages() {
    int other = 1 - Murmur2.shard(KEY, 2);
    router = (message, shards) -> other % shards;
    move(spool(0, 1), item(0, 0, 1, 10));
    assertThat(taken).isEqualTo(Map.of(TWO.open().first() + other, List.of(1)));
  }

  /** It need not send a message that comes again to the same shard. */
  @Test
  void aRouterThatDoesNotGiveTheShardsThatMessagesHaveIsNotAsked() {
    topic = THREE;
    int other = 1 - Murmur2.shard(KEY, 2);
    router = (message, shards) -> shards == 2 ? other : shards - 1;
    move(spool(0, 1), item(shard(TWO), 0, 1, 10));
    assertThat(taken).isEqualTo(Map.of(shard(THREE), List.of(1)));
  }
}
