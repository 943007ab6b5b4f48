package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.DelayedOrigin;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import dev.evenkeel.util.LogLimiter;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves delayed messages of sealed shards to the shards that have taken their place, while this
 * node leads the log group of the sealed shard. A batch is dropped once the others have its
 * messages; after a crash in between, the next leader sends it again, and the log notices that.
 *
 * <p>Each shard moves by itself: one that cannot, for example because a log group has no leader,
 * holds up no other one.
 *
 * <p>Runs on one context. Batches are read and divided on the threads that read the disk.
 */
final class DelayedMoves {
  private static final Logger LOG = LoggerFactory.getLogger(DelayedMoves.class);

  /** In place of a group whose handlers publish. */
  static final String PUBLISHER = DataCommand.OpenPublisher.DELAYED;

  /** Ids that the meta log counts are lower; see also {@link ProducerIds}. */
  private static final long FIRST_PRODUCER = 1L << 62;

  /** Batches that are read, sent and dropped together. */
  private static final int BATCHES_MAX = 256;

  /** And their bytes when they are unpacked, but for the last one. */
  private static final int UNPACKED_BYTES_MAX = 2 << 20;

  private static final long REQUEST_MILLIS_MAX = 3_000;

  private final ServeContext serve;
  private final GroupCommands commands;
  private final MoveTurns turns = new MoveTurns();
  private final LogLimiter limiter = new LogLimiter();

  /**
   * What the shards of its topic had of the producer when its epoch was opened, by sealed shard.
   */
  private final Map<Shard, Opened> opened = new HashMap<>();

  private boolean closed;

  /**
   * @param layouts of the topic then: the epoch is open in every log group that holds one of them
   */
  private record Opened(int epoch, List<TopicInfo.Layout> layouts, Map<Shard, Long> last) {}

  /**
   * Batches that move together.
   *
   * @param waiting how many wait in the shard, with these
   * @param parts what is made of them, by log group
   */
  private record Chunk(long waiting, int batches, Map<Integer, List<AppendBody.Item>> parts) {}

  /** A sealed shard with delayed messages, which this node leads. */
  private record Sealed(LogGroupServer group, TopicInfo topic) {}

  DelayedMoves(ServeContext serve, GroupCommands commands) {
    this.serve = serve;
    this.commands = commands;
  }

  void close() {
    closed = true;
  }

  /** Goes on, if there is something to move; called from time to time, and after each move. */
  void look() {
    if (closed) {
      return;
    }
    Map<Shard, Sealed> waiting = new TreeMap<>();
    for (LogGroupServer group : serve.groups()) {
      if (group.log().leadership().ready()
          && group.nodeId().equals(group.log().leadership().leader())) {
        for (Shard shard : group.state().tables().delays().sealed()) {
          TopicInfo topic = serve.node().meta().tables().topic(shard.topicId());
          if (topic != null && topic.isSealed(shard.shard())) {
            waiting.put(shard, new Sealed(group, topic));
          }
        }
      }
    }
    opened.keySet().retainAll(waiting.keySet());
    for (Shard shard : turns.begin(waiting.keySet(), MonotonicClock.millis())) {
      move(shard, waiting.get(shard));
    }
  }

  private void move(Shard shard, Sealed sealed) {
    LogGroupServer group = sealed.group;
    Future.succeededFuture()
        .compose(begun -> open(shard, sealed))
        .compose(
            epoch ->
                new MendingRead<>(serve, group, Asker.NODE, () -> read(shard, sealed, epoch)).run())
        .compose(chunk -> send(shard, group, chunk))
        .onComplete(
            moved -> {
              if (moved.failed()) {
                failed(shard, sealed, moved.cause());
              } else {
                turns.moved(shard);
              }
              look();
            });
  }

  private void failed(Shard shard, Sealed sealed, Throwable cause) {
    opened.remove(shard);
    serve.meters().moveFailures.increment();
    long wait = turns.failed(shard, MonotonicClock.millis());
    if (limiter.mayLog(shard.toString(), MonotonicClock.millis())) {
      LOG.warn(
          "{} delayed messages of sealed {} cannot be moved to the shards that have taken its place"
              + " ({}); tries again in {} s",
          sealed.group.state().tables().delays().of(shard).messages(),
          sealed.group.state().tables().nameOf(shard),
          cause.getMessage(),
          wait / 1_000);
    }
  }

  static long producerId(Shard shard) {
    return FIRST_PRODUCER | (long) shard.topicId() << 20 | shard.shard();
  }

  /** The epoch is open in every data group that has shards of the topic. */
  private Future<Opened> open(Shard shard, Sealed sealed) {
    TopicInfo topic = sealed.topic;
    int term = Math.toIntExact(sealed.group.log().leadership().term());
    Opened known = opened.get(shard);
    if (known != null && known.epoch == term && known.layouts.equals(topic.layouts())) {
      return Future.succeededFuture(known);
    }
    DataCommand command =
        new DataCommand.OpenPublisher(producerId(shard), term, PUBLISHER, shard, true);
    List<Future<Reply>> replies =
        topic
            .numbers()
            .map(number -> groupOf(topic, number))
            .distinct()
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
              Opened now = new Opened(term, topic.layouts(), last);
              opened.put(shard, now);
              return now;
            });
  }

  private int groupOf(TopicInfo topic, int shard) {
    return topic.group(shard, serve.node().log().formedGroups());
  }

  private boolean keepsIds() {
    return serve.node().meta().tables().featureLevel() >= FeatureLevel.MOVED_IDS;
  }

  /** The batches that are due first. Their ordinals are the same, whoever reads them. */
  private Chunk read(Shard shard, Sealed sealed, Opened epoch) {
    TopicInfo topic = sealed.topic;
    LogGroupServer group = sealed.group;
    DelayCounts counts = group.state().tables().delays().of(shard);
    List<DelayedSplit.Delayed> batches = new ArrayList<>();
    int taken =
        group.state().read(store -> read(new DelayedReader(group, store, shard), counts, batches));
    DelayedSplit split =
        new DelayedSplit(topic, producerId(shard), epoch.epoch, epoch.last, keepsIds());
    Map<Integer, List<AppendBody.Item>> parts =
        split.of(batches).stream()
            .collect(
                Collectors.groupingBy(
                    item -> groupOf(topic, item.shard().shard()),
                    TreeMap::new,
                    Collectors.toList()));
    return new Chunk(counts.batches(), taken, parts);
  }

  /** Adds the batches, and returns how many rows they have; those that are lost are left out. */
  private static int read(
      DelayedReader reader, DelayCounts counts, List<DelayedSplit.Delayed> batches) {
    Shard shard = reader.shard();
    byte[] from = new DelayedKey(shard, counts.dueMillis(), counts.serial()).bytes();
    int taken = 0;
    long unpacked = 0;
    try (Store.Cursor cursor =
        reader.store().scan(Store.Table.DELAYED, from, DelayedKey.last(shard))) {
      while (taken < BATCHES_MAX && unpacked < UNPACKED_BYTES_MAX && cursor.next()) {
        DelayedKey key = DelayedKey.of(cursor.key());
        DelayedBatch row = DelayedBatch.decode(cursor.value());
        // As many are left from this one on: that becomes less and less.
        long ordinal = Limits.DELAYED_MESSAGES_MAX - (counts.batches() - taken);
        taken++;
        Batch bytes = reader.bytes(row);
        if (bytes == null) {
          LOG.error(
              "{} delayed messages of sealed {} are lost: no node has their bytes",
              row.batch().count(),
              reader.group().state().tables().nameOf(shard));
          continue;
        }
        unpacked += bytes.unpackedLength();
        DelayedOrigin.Place place = new DelayedOrigin.Place(shard.shard(), key.serial());
        batches.add(new DelayedSplit.Delayed(ordinal, key.dueMillis(), place, row, bytes));
      }
    }
    return taken;
  }

  private Future<?> send(Shard shard, LogGroupServer group, Chunk chunk) {
    List<Future<?>> sent = new ArrayList<>();
    chunk.parts.forEach((to, items) -> sent.add(append(to, AppendBody.requests(items), 0)));
    return Future.all(sent)
        .compose(
            all ->
                commands.submit(
                    serve.groups().indexOf(group),
                    new DataCommand.DropDelayed(shard, chunk.waiting, chunk.batches),
                    REQUEST_MILLIS_MAX))
        .map(
            reply -> {
              if (reply instanceof Reply.Refused refused) {
                throw refused.exception();
              }
              return reply;
            });
  }

  /** Sends one request after the other: the sequences of a shard only grow. */
  private Future<?> append(int group, List<List<AppendBody.Item>> requests, int next) {
    if (next == requests.size()) {
      return Future.succeededFuture();
    }
    Bytes body = new Bytes();
    requests.get(next).forEach(item -> AppendBody.write(body, item));
    return commands
        .appendBatches(group, keepsIds() ? Op.MOVE_DELAYED : Op.APPEND, body, REQUEST_MILLIS_MAX)
        .compose(
            answer -> {
              for (AppendResults.Result result : AppendResults.decode(answer).results()) {
                if (!result.ok()) {
                  throw new RefusedException(
                      result.refusal(), "delayed messages are refused: " + result.refusal());
                }
              }
              return append(group, requests, next + 1);
            });
  }
}
