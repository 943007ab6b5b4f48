package dev.evenkeel.gateway;

import dev.evenkeel.api.Browse;
import dev.evenkeel.api.Browse.BrowsedMessages;
import dev.evenkeel.api.MessageView;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/** Reads a shard without owning it. */
record MessagesApi(ClusterCalls calls) {
  /**
   * With a key, an answer ends after so many looks of a broker into at most 1 MiB, so that no
   * request takes long.
   */
  private static final int SEARCH_LOOKS_MAX = 32;

  /** Bytes that are unpacked in one turn of the event loop, and those of one batch more. */
  private static final long UNPACKED_BYTES_MAX = 1 << 20;

  void serve(ApiAnswers answers) {
    answers.by(Operations.BROWSE, (asked, user) -> new MessagesApi(calls.of(user)).browse(asked));
  }

  private Future<BrowsedMessages> browse(Browse asked) {
    Page<MessageView> page = new Page<>(asked.limit());
    StartAt start = asked.at() == null ? StartAt.EARLIEST : start(asked.at());
    if (asked.offset() != null && asked.at() != null) {
      throw Refusal.INVALID.error("give either 'offset' or 'at', not both");
    }
    byte[] key = asked.key() == null ? null : TextOrBytes.utf8("key", asked.key());
    int index = asked.shard() == null ? -1 : asked.shard();
    return calls
        .topicsWith(asked.topic(), index)
        .compose(
            view -> {
              Shard shard = shard(view.existing(asked.topic()), index);
              Future<Long> from =
                  asked.offset() != null
                      ? Future.succeededFuture(asked.offset())
                      : calls.offset(shard, start);
              boolean placed = view.featureLevel() >= FeatureLevel.PLACED_FETCHES;
              return from.compose(first -> read(page, shard, key, first, SEARCH_LOOKS_MAX, placed));
            })
        .map(
            next ->
                new BrowsedMessages(page.items(), Boolean.TRUE.equals(asked.page()) ? next : null));
  }

  private static StartAt start(String at) {
    try {
      return StartAt.parseTime(at);
    } catch (RefusedException e) {
      throw Refusal.INVALID.error("the field 'at' is '%s': %s", at, e.getMessage());
    }
  }

  private static Shard shard(TopicInfo topic, int index) {
    String right = "shards of '" + topic.name() + "' are " + topic.range();
    if (index < 0 && topic.all().size() > 1) {
      throw Refusal.INVALID.error("the field 'shard' is missing: %s", right);
    }
    if (index >= 0 && !topic.has(index)) {
      throw Refusal.UNKNOWN_SHARD.error("there is no shard %s: %s", index, right);
    }
    return new Shard(topic.id(), index < 0 ? topic.open().first() : index);
  }

  /**
   * Fetches until the page is full or the shard ends. Completes with the next offset to read. With
   * a key, the broker looks for the messages, where users take turns.
   *
   * @param key null: of any key or none
   * @param looks with a key, how often the broker is asked
   * @param placed whether all nodes say where messages are in the log
   */
  private Future<Long> read(
      Page<MessageView> page, Shard shard, byte[] key, long offset, int looks, boolean placed) {
    boolean all = key == null;
    FetchRequest request =
        FetchRequest.browse(
                shard,
                offset,
                Math.min(Limits.FETCH_BYTES_MAX, page.bytesLeft()),
                all ? page.itemsLeft() : Limits.BATCH_MESSAGES_MAX,
                0)
            .with(placed ? filter(key) : null);
    return browse(request, placed)
        .recover(
            failure ->
                // There may be messages behind those that are lost.
                request.filters() && failure instanceof RefusedException.OutOfRange
                    ? browse(request.with(MessageFilter.ALL).within(1, 1), placed)
                    : Future.failedFuture(failure))
        .recover(failure -> Future.failedFuture(outOfRange(offset, failure)))
        .compose(
            fetched -> {
              long next = take(page, shard, key, fetched, offset);
              boolean done =
                  page.full()
                      || next <= offset
                      || next >= fetched.endOffset()
                      || !all && looks == 1;
              return done
                  ? Future.succeededFuture(next)
                  : read(page, shard, key, next, looks - 1, placed);
            });
  }

  private static MessageFilter filter(byte[] key) {
    return key == null
        ? MessageFilter.ALL
        : MessageFilter.of("key=" + new String(key, StandardCharsets.UTF_8));
  }

  private Future<FetchAnswer> browse(FetchRequest request, boolean placed) {
    Shard shard = request.shard();
    return calls
        .toLeaderOf(shard, Op.BROWSE, Frames.request(Op.BROWSE, request.encode()))
        // This gateway may run in an application, and the nodes in the first version.
        .recover(
            failure ->
                !placed
                        && failure instanceof RefusedException refused
                        && refused.refusal() == Refusal.INVALID
                    ? calls.toLeaderOf(
                        shard, Op.BROWSE, Frames.request(Op.BROWSE, request.encodeFormer()))
                    : Future.failedFuture(failure))
        .map(answer -> FetchAnswer.decode(answer, placed));
  }

  /** The text of the broker's refusal holds only the bounds, for programs. */
  private static Throwable outOfRange(long offset, Throwable failure) {
    if (failure instanceof RefusedException.OutOfRange range) {
      return Refusal.OFFSET_OUT_OF_RANGE.error(
          "there is no offset " + offset + ": the shard has " + range.start() + ".." + range.end());
    }
    return failure;
  }

  /**
   * Adds the messages of a key from {@code offset} on. Ends early if the batches unpack to much.
   * Returns the next offset to read.
   */
  static long take(
      Page<MessageView> page, Shard shard, byte[] key, FetchAnswer fetched, long offset) {
    long next = offset;
    long unpacked = 0;
    for (FetchAnswer.Placed placed : fetched.batches()) {
      if (page.full() || unpacked > UNPACKED_BYTES_MAX) {
        // What was not looked at is fetched again.
        return next;
      }
      unpacked += placed.batch().unpackedLength();
      RefusedException damage = damage(placed);
      BatchReader reader = placed.batch().reader(placed.baseOffset());
      while (reader.hasNext() && !page.full()) {
        long at = reader.nextOffset();
        MessageView shown = show(page, placed, shard, key, reader, damage);
        if (at >= offset) {
          if (shown != null) {
            page.add(shown);
          }
          next = at + 1;
        }
      }
    }
    return page.full() ? next : Math.max(next, fetched.next());
  }

  /** Why nothing in the batch counts, or null. */
  private static RefusedException damage(FetchAnswer.Placed placed) {
    try {
      placed.verified();
      return null;
    } catch (RefusedException damaged) {
      return damaged;
    }
  }

  /**
   * Shows an unreadable message as such, so that it does not hide the messages behind it. Null: the
   * message has another key, or nobody knows its key.
   */
  private static MessageView show(
      Page<MessageView> page,
      FetchAnswer.Placed placed,
      Shard shard,
      byte[] key,
      BatchReader reader,
      RefusedException damage) {
    long offset = reader.nextOffset();
    try {
      if (damage != null) {
        throw damage;
      }
      Message message = reader.next();
      if (key != null && !Arrays.equals(key, message.key())) {
        return null;
      }
      int keyBytes = message.key() == null ? 0 : message.key().length;
      page.count(64 + message.payload().length + keyBytes);
      return view(placed, shard, offset, message, null);
    } catch (RefusedException malformed) {
      reader.giveUp();
      if (key != null) {
        return null;
      }
      page.count(64);
      return view(placed, shard, offset, null, malformed.getMessage());
    }
  }

  private static MessageView view(
      FetchAnswer.Placed placed, Shard shard, long offset, Message message, String unreadable) {
    boolean lost = message == null;
    LogPosition log = placed.log();
    return new MessageView(
        shard.shard(),
        offset,
        lost ? null : TextOrBytes.of(message.key()),
        lost ? null : TextOrBytes.of(message.payload()),
        lost ? null : (Long) message.timestampMillis(),
        lost ? Map.of() : TextOrBytes.of(message.headers()),
        unreadable,
        log == null ? null : log.groupName(),
        log == null ? null : (Long) log.index());
  }
}
