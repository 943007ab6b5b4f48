package dev.evenkeel.gateway;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
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
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.List;

/** Answers {@code evenkeel.api.messages}: reads a shard without owning it. */
final class MessagesApi {
  private static final List<String> FIELDS =
      List.of("topic", "shard", "offset", "at", "key", "limit", "page");

  /** With a key, an answer ends after this many bytes, so that no request takes long. */
  private static final long SEARCH_BYTES_MAX = 16 << 20;

  private final ClusterCalls calls;

  MessagesApi(ClusterCalls calls) {
    this.calls = calls;
  }

  /** An array of messages; with {@code page}, an object that also says where to read on. */
  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String topicName = JsonFields.neededText(request, "topic");
    Page page = Page.of(request);
    long offset = JsonFields.number(request, "offset", -1, 0, Long.MAX_VALUE);
    StartAt start = start(request);
    if (offset >= 0 && start != null) {
      throw JsonFields.invalid("give either 'offset' or 'at', not both");
    }
    int index = (int) JsonFields.number(request, "shard", -1, 0, Limits.SHARD_NUMBERS_MAX);
    String key = JsonFields.text(request, "key");
    byte[] keyBytes = key == null ? null : TextOrBase64.utf8("key", key);
    boolean paged = JsonFields.flag(request, "page");
    return calls
        .topicsWith(topicName, index)
        .compose(
            view -> {
              Shard shard = shard(view.existing(topicName), index);
              Future<Long> from =
                  offset >= 0
                      ? Future.succeededFuture(offset)
                      : calls.offset(shard, start == null ? StartAt.EARLIEST : start);
              boolean placed = view.featureLevel() >= FeatureLevel.PLACED_FETCHES;
              return from.compose(
                  first -> read(page, shard, keyBytes, first, SEARCH_BYTES_MAX, placed));
            })
        .map(
            next ->
                paged
                    ? new JsonObject().put("messages", page.items()).put("nextOffset", next)
                    : page.items());
  }

  /** The field {@code at}, which is a text or a number; null: there is none. */
  private static StartAt start(JsonObject request) {
    Object at = request.getValue("at");
    if (at == null) {
      return null;
    }
    try {
      return StartAt.parseTime(at.toString());
    } catch (RefusedException e) {
      throw JsonFields.invalid("the field 'at' is '" + at + "': " + e.getMessage());
    }
  }

  private static Shard shard(TopicInfo topic, int index) {
    String right = "shards of '" + topic.name() + "' are " + topic.range();
    if (index < 0 && topic.all().size() > 1) {
      throw JsonFields.invalid("the field 'shard' is missing: " + right);
    }
    if (index >= 0 && !topic.has(index)) {
      throw new RefusedException(
          Refusal.UNKNOWN_SHARD, "there is no shard " + index + ": " + right);
    }
    return new Shard(topic.id(), index < 0 ? topic.open().first() : index);
  }

  /**
   * Fetches until the page is full or the shard ends. Completes with the next offset to read.
   *
   * @param key null: of any key or none
   * @param searchBytes with a key, the most bytes that are fetched
   * @param placed whether all nodes say where messages are in the log
   */
  private Future<Long> read(
      Page page, Shard shard, byte[] key, long offset, long searchBytes, boolean placed) {
    boolean all = key == null;
    FetchRequest request =
        FetchRequest.browse(
                shard,
                offset,
                all ? Math.min(Limits.FETCH_BYTES_MAX, page.bytesLeft()) : Limits.FETCH_BYTES_MAX,
                all ? page.itemsLeft() : Integer.MAX_VALUE,
                0)
            .with(placed ? MessageFilter.ALL : null);
    return calls
        .toLeaderOf(shard, Op.BROWSE, request.encode())
        // This gateway may run in an application, and the nodes in the first version.
        .recover(
            failure ->
                !placed
                        && failure instanceof RefusedException refused
                        && refused.refusal() == Refusal.INVALID
                    ? calls.toLeaderOf(shard, Op.BROWSE, request.encodeFormer())
                    : Future.failedFuture(failure))
        .recover(failure -> Future.failedFuture(outOfRange(offset, failure)))
        .compose(
            answer -> {
              long left = searchBytes - answer.remaining();
              FetchAnswer fetched = FetchAnswer.decode(answer, placed);
              long next = take(page, shard, key, fetched, offset);
              boolean done =
                  page.full() || next <= offset || next >= fetched.endOffset() || !all && left <= 0;
              return done
                  ? Future.succeededFuture(next)
                  : read(page, shard, key, next, left, placed);
            });
  }

  /** The text of the broker's refusal holds only the bounds, for programs. */
  private static Throwable outOfRange(long offset, Throwable failure) {
    if (failure instanceof RefusedException.OutOfRange range) {
      return new RefusedException(
          Refusal.OFFSET_OUT_OF_RANGE,
          "there is no offset " + offset + ": the shard has " + range.start() + ".." + range.end());
    }
    return failure;
  }

  /** Adds the messages of a key from {@code offset} on. Returns the next offset to read. */
  static long take(Page page, Shard shard, byte[] key, FetchAnswer fetched, long offset) {
    long next = offset;
    for (FetchAnswer.Placed placed : fetched.batches()) {
      if (page.full()) {
        break;
      }
      RefusedException damage = damage(placed);
      BatchReader reader = placed.batch().reader(placed.baseOffset());
      while (reader.hasNext() && !page.full()) {
        long at = reader.nextOffset();
        JsonObject shown = show(page, shard, key, reader, at, damage);
        if (at >= offset) {
          if (shown != null) {
            put(shown, placed.log());
            page.add(shown);
          }
          next = at + 1;
        }
      }
    }
    return next;
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
  private static JsonObject show(
      Page page,
      Shard shard,
      byte[] key,
      BatchReader reader,
      long offset,
      RefusedException damage) {
    try {
      if (damage != null) {
        throw damage;
      }
      Message message = reader.next();
      return key == null || Arrays.equals(key, message.key())
          ? json(page, shard, offset, message)
          : null;
    } catch (RefusedException malformed) {
      reader.giveUp();
      if (key != null) {
        return null;
      }
      page.count(64);
      return new JsonObject()
          .put("shard", shard.shard())
          .put("offset", offset)
          .putNull("key")
          .putNull("payload")
          .putNull("timestamp")
          .put("headers", new JsonObject())
          .put("unreadable", malformed.getMessage());
    }
  }

  /** Adds the place of a message in the log; nothing if it is not known. */
  static void put(JsonObject json, LogPosition log) {
    if (log != null) {
      json.put("logGroup", log.groupName()).put("logIndex", log.index());
    }
  }

  private static JsonObject json(Page page, Shard shard, long offset, Message message) {
    JsonObject json = new JsonObject().put("shard", shard.shard()).put("offset", offset);
    TextOrBase64.put(json, "key", message.key());
    TextOrBase64.put(json, "payload", message.payload());
    JsonObject headers = new JsonObject();
    message.headers().forEach((name, value) -> headers.put(name, TextOrBase64.value(value)));
    page.count(64 + message.payload().length + (message.key() == null ? 0 : message.key().length));
    return json.put("timestamp", message.timestampMillis()).put("headers", headers);
  }
}
