package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.CORRUPT;

import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.storage.Store;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends delayed messages of sealed shards on to the shards that have taken their place, while this
 * node leads the log group of the sealed shard. A batch is dropped once the others have its
 * messages; after a crash in between, the next leader sends it again, and the log notices that.
 *
 * <p>Runs on one context.
 */
final class DelayedMoves {
  private static final Logger LOG = LoggerFactory.getLogger(DelayedMoves.class);

  /** In place of a group whose handlers publish. */
  static final String PUBLISHER = "evenkeel.delayed";

  /** Ids that the meta log gives out are lower. */
  private static final long FIRST_PRODUCER = 1L << 62;

  private static final int BATCHES_MAX = 256;
  private static final int BYTES_MAX = 1 << 20;
  private static final long REQUEST_MILLIS_MAX = 10_000;

  private final ServeContext serve;
  private final GroupCommands commands;

  /** What the sealed shards had of the producer when its epoch was opened, by shard. */
  private final Map<Shard, Opened> opened = new HashMap<>();

  private boolean underWay;
  private boolean closed;

  private record Opened(int epoch, Map<Shard, Long> lastInSealed) {}

  private record Chunk(long waiting, List<DelayedSplit.Delayed> batches) {}

  DelayedMoves(ServeContext serve, GroupCommands commands) {
    this.serve = serve;
    this.commands = commands;
  }

  void close() {
    closed = true;
  }

  /** Goes on, if there is something to move; called from time to time, and when topics change. */
  void look() {
    if (underWay || closed) {
      return;
    }
    for (LogGroupServer group : serve.groups()) {
      if (group.log().leadership().ready()
          && group.nodeId().equals(group.log().leadership().leader())) {
        for (Shard shard : group.state().tables().delays().sealed()) {
          TopicInfo topic = serve.node().meta().tables().topic(shard.topicId());
          if (topic != null && topic.isSealed(shard.shard())) {
            move(group, shard, topic);
            return;
          }
        }
      }
    }
  }

  private void move(LogGroupServer group, Shard shard, TopicInfo topic) {
    underWay = true;
    int term = Math.toIntExact(group.log().leadership().term());
    open(shard, term)
        .compose(
            epoch ->
                serve
                    .read(() -> read(group, shard))
                    .compose(chunk -> send(group, shard, topic, epoch, chunk)))
        .onComplete(
            moved -> {
              underWay = false;
              if (moved.failed()) {
                opened.remove(shard);
                LOG.warn(
                    "delayed messages of sealed {} wait: {}",
                    group.state().tables().nameOf(shard),
                    moved.cause().getMessage());
              } else {
                look();
              }
            });
  }

  private static long producerId(Shard shard) {
    return FIRST_PRODUCER | (long) shard.topicId() << 20 | shard.shard();
  }

  /** The epoch is open in every data group. */
  private Future<Opened> open(Shard shard, int term) {
    Opened known = opened.get(shard);
    if (known != null && known.epoch == term) {
      return Future.succeededFuture(known);
    }
    DataCommand command =
        new DataCommand.OpenPublisher(producerId(shard), term, PUBLISHER, shard, true);
    List<Future<Reply>> replies =
        IntStream.range(0, serve.openGroups())
            .mapToObj(each -> commands.submit(each, command, REQUEST_MILLIS_MAX))
            .toList();
    return Future.all(replies)
        .map(
            all -> {
              Map<Shard, Long> last = new HashMap<>();
              for (Reply reply : all.<Reply>list()) {
                if (reply instanceof Reply.Refused refused) {
                  throw refused.exception();
                }
                if (reply instanceof Reply.OfSequences of) {
                  last.putAll(of.lastSequences());
                }
              }
              Opened now = new Opened(term, last);
              opened.put(shard, now);
              return now;
            });
  }

  /** The batches that are due first. Their ordinals are the same, whoever reads them. */
  private static Chunk read(LogGroupServer group, Shard shard) {
    DelayCounts counts = group.state().tables().delays().of(shard);
    List<DelayedSplit.Delayed> batches = new ArrayList<>();
    List<DelayedKey> keys = new ArrayList<>();
    List<DelayedBatch> found = new ArrayList<>();
    group
        .state()
        .read(
            store -> {
              byte[] from = new DelayedKey(shard, counts.dueMillis(), counts.serial()).bytes();
              byte[] to = DelayedKey.last(shard);
              long bytes = 0;
              try (Store.Cursor cursor = store.scan(Store.Table.DELAYED, from, to)) {
                while (found.size() < BATCHES_MAX && bytes < BYTES_MAX && cursor.next()) {
                  keys.add(DelayedKey.of(cursor.key()));
                  found.add(DelayedBatch.decode(cursor.value()));
                  bytes += found.get(found.size() - 1).batch().length();
                }
              }
              return null;
            });
    for (int i = 0; i < found.size(); i++) {
      DelayedBatch each = found.get(i);
      byte[] bytes = group.state().bytes(each.place(), each.batch().length());
      if (bytes == null) {
        throw CORRUPT.error("the bytes of a delayed batch are missing");
      }
      // As many are left from this one on: that becomes less and less.
      long ordinal = Limits.DELAYED_MESSAGES_MAX - (counts.batches() - i);
      batches.add(
          new DelayedSplit.Delayed(
              ordinal, keys.get(i).dueMillis(), Batch.whole(ByteBuffer.wrap(bytes))));
    }
    return new Chunk(counts.batches(), batches);
  }

  private Future<?> send(
      LogGroupServer group, Shard shard, TopicInfo topic, Opened epoch, Chunk chunk) {
    DelayedSplit split =
        new DelayedSplit(topic, producerId(shard), epoch.epoch, epoch.lastInSealed);
    Map<Integer, List<AppendBody.Item>> byGroup = new TreeMap<>();
    for (AppendBody.Item item : split.of(chunk.batches)) {
      int to = serve.numberOf(item.shard());
      byGroup.computeIfAbsent(to, none -> new ArrayList<>()).add(item);
    }
    List<Future<?>> sent = new ArrayList<>();
    byGroup.forEach((to, items) -> sent.add(append(to, items)));
    return Future.all(sent)
        .compose(
            all ->
                commands.submit(
                    serve.groups().indexOf(group),
                    new DataCommand.DropDelayed(shard, chunk.waiting, chunk.batches.size()),
                    REQUEST_MILLIS_MAX))
        .map(
            reply -> {
              if (reply instanceof Reply.Refused refused) {
                throw refused.exception();
              }
              return reply;
            });
  }

  private Future<?> append(int group, List<AppendBody.Item> items) {
    Bytes body = new Bytes();
    items.forEach(item -> AppendBody.write(body, item));
    return commands
        .appendBatches(group, body, REQUEST_MILLIS_MAX)
        .map(AppendResults::decode)
        .map(
            answer -> {
              for (AppendResults.Result result : answer.results()) {
                if (!result.ok()) {
                  throw new RefusedException(
                      result.refusal(), "delayed messages are refused: " + result.refusal());
                }
              }
              return null;
            });
  }
}
