package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.Calls.DelayedAt;
import dev.evenkeel.bus.Calls.FindMoved;
import dev.evenkeel.bus.Calls.Moved;
import dev.evenkeel.bus.Calls.ReadDelayed;
import dev.evenkeel.protocol.DataCommand.CancelDelayed;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Lists and cancels delayed messages. It cancels one message of a log group after the other,
 * because each cancellation writes the rest of the batch that the one before left.
 *
 * <p>Runs on one context.
 */
final class DelayedService {
  private static final int MESSAGES_MAX = 1_000;

  /** An answer ends after so many looks, so that no search takes long. */
  private static final int LOOKS_MAX = 16;

  /** Most cancellations of a log group that wait. Users share them. */
  private static final int WAITING_MAX = 1_000;

  /** A former leader may have changed the batch after it was read; a second one is unlikely. */
  private static final int ATTEMPTS = 3;

  private final ServeContext serve;
  private final Map<LogGroupServer, Queue> queues = new HashMap<>();

  private static final class Queue {
    private final LookQueue turns = new LookQueue(1);
    private final Map<String, Integer> byUser = new HashMap<>();
    private int waiting;

    private void add(String user) {
      int own = byUser.getOrDefault(user, 0);
      boolean fits = user == null ? waiting < WAITING_MAX : own < WAITING_MAX - waiting;
      if (!fits) {
        throw OVERLOADED.error(
            "%s cancellations wait for the log group of the shard%s: try again later",
            waiting, user == null ? "" : ", and %s of them are yours".formatted(own));
      }
      waiting++;
      byUser.put(user, own + 1);
    }

    private void remove(String user) {
      waiting--;
      byUser.computeIfPresent(user, (name, count) -> count == 1 ? null : count - 1);
    }
  }

  DelayedService(ServeContext serve) {
    this.serve = serve;
  }

  Future<DelayedAnswer> list(ReadDelayed asked, Asker asker) {
    int max = Math.max(1, Math.min(asked.max(), MESSAGES_MAX));
    Shard shard = asked.from().shard();
    LogGroupServer group = serve.readyGroupOf(shard);
    return new Listing(group, shard, asker, asked.key(), max).go(asked.from().id(), LOOKS_MAX);
  }

  /** A list that is made look by look. */
  private final class Listing {
    private final LogGroupServer group;
    private final Shard shard;
    private final Asker asker;
    private final byte[] key;
    private final int max;
    private final List<DelayedAnswer.DelayedCopy> found = new ArrayList<>();
    private long bytes;

    private Listing(LogGroupServer group, Shard shard, Asker asker, byte[] key, int max) {
      this.group = group;
      this.shard = shard;
      this.asker = asker;
      this.key = key;
      this.max = max;
    }

    private Future<DelayedAnswer> go(DelayedId from, int looks) {
      return read(asker, group, shard, reader -> reader.list(from, key, max - found.size()))
          .compose(
              answer -> {
                for (DelayedAnswer.DelayedCopy each : answer.messages()) {
                  found.add(each);
                  bytes += each.copy() == null ? 0 : each.copy().length;
                }
                boolean done =
                    answer.next() == null
                        || found.size() == max
                        || bytes >= Limits.FETCH_BYTES_MAX
                        || looks == 1;
                return done
                    ? Future.succeededFuture(new DelayedAnswer(found, answer.next()))
                    : go(answer.next(), looks - 1);
              });
    }
  }

  private <T> Future<T> read(
      Asker asker, LogGroupServer group, Shard shard, Function<DelayedReader, T> reader) {
    return new MendingRead<>(
            serve,
            group,
            asker,
            () -> group.state().read(store -> reader.apply(new DelayedReader(group, store, shard))))
        .run();
  }

  Future<Moved> findMoved(FindMoved asked, Asker asker) {
    LogGroupServer group = serve.group(asked.dataGroup());
    DelayedId id = asked.former().id();
    group.requireReady();
    List<Shard> shards = group.state().tables().delays().of(asked.former().shard().topicId());
    return moved(asker, group, shards, 0, id, 0)
        .map(found -> found == null ? new Moved(-1, 0L) : new Moved(found.shard(), found.serial()));
  }

  /** Looks in one shard after another, some rows at a turn. Null: it is in none. */
  private Future<DelayedId> moved(
      Asker asker, LogGroupServer group, List<Shard> shards, int at, DelayedId id, long serial) {
    if (at == shards.size()) {
      return Future.succeededFuture();
    }
    Shard shard = shards.get(at);
    return serve
        .read(asker, group, store -> new DelayedReader(group, store, shard).moved(id, serial))
        .compose(
            sought -> {
              if (sought.found() != null) {
                return Future.succeededFuture(sought.found());
              }
              boolean more = sought.nextSerial() >= 0;
              return moved(
                  asker, group, shards, more ? at : at + 1, id, more ? sought.nextSerial() : 0);
            });
  }

  Future<Reply> cancel(DelayedAt asked, Asker asker) {
    Shard shard = asked.shard();
    DelayedId id = asked.id();
    LogGroupServer group = serve.readyGroupOf(shard);
    // Before it reads the disk for nothing.
    group.state().requireLevel(FeatureLevel.CANCELLING);
    Queue queue = queues.computeIfAbsent(group, none -> new Queue());
    queue.add(asker.user());
    Future<Reply> done =
        queue.turns.run(asker, () -> true, () -> cancel(asker, group, shard, id, ATTEMPTS));
    return done.onComplete(
        answered -> {
          queue.remove(asker.user());
          if (answered.result() instanceof Reply.Done) {
            serve.meters().cancelledMessages.increment();
          } else if (answered.result() instanceof Reply.Refused refused) {
            serve.meters().refused(refused.refusal());
          }
        });
  }

  private Future<Reply> cancel(
      Asker asker, LogGroupServer group, Shard shard, DelayedId id, int attempts) {
    return read(asker, group, shard, reader -> entry(reader, shard, id))
        .compose(entry -> append(group, entry))
        .compose(
            reply ->
                reply instanceof Reply.Refused refused
                        && refused.refusal() == UNAVAILABLE
                        && attempts > 1
                    ? cancel(asker, group, shard, id, attempts - 1)
                    : Future.succeededFuture(reply));
  }

  /**
   * An entry of the log.
   *
   * @param rest its body; null: it has none
   */
  private record Cancellation(CancelDelayed command, Batch rest) {}

  /**
   * What cancels the message. The log decides about one that is not there, too: this node may not
   * lead any more.
   */
  private static Cancellation entry(DelayedReader reader, Shard shard, DelayedId id) {
    DelayedBatch batch = reader.find(id);
    boolean waits = batch != null && batch.has(id.position());
    Batch rest = waits && batch.batch().count() > 1 ? reader.without(batch, id.position()) : null;
    byte[] header = null;
    if (rest != null) {
      header = new byte[BatchHeader.BYTES];
      rest.bytes().get(0, header);
    }
    CancelDelayed command =
        new CancelDelayed(
            shard,
            id.dueMillis(),
            id.serial(),
            id.position(),
            batch == null ? -1 : batch.place().index(),
            batch == null ? 0 : batch.place().at(),
            header);
    return new Cancellation(command, rest);
  }

  private Future<Reply> append(LogGroupServer group, Cancellation cancel) {
    ByteBuffer head = ByteBuffer.wrap(Entry.of(cancel.command(), serve.node().nowMillis()));
    List<ByteBuffer> body = cancel.rest() == null ? List.of() : List.of(cancel.rest().bytes());
    return Future.fromCompletionStage(group.log().append(head, body), serve.context())
        .map(ReplyCodec::decode);
  }
}
