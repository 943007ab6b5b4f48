package dev.evenkeel.gateway;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.BatchReader;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Answers {@code evenkeel.api.messages}: reads a shard without owning it. */
final class MessagesApi {
  private static final List<String> FIELDS = List.of("topic", "shard", "offset", "limit");

  private final ClusterCalls calls;

  MessagesApi(ClusterCalls calls) {
    this.calls = calls;
  }

  Future<Object> answer(JsonObject request) {
    JsonFields.onlyFields(request, FIELDS);
    String topicName = JsonFields.neededText(request, "topic");
    Page page = Page.of(request);
    long offset = JsonFields.number(request, "offset", -1, 0, Long.MAX_VALUE);
    int index = (int) JsonFields.number(request, "shard", -1, 0, Limits.SHARD_NUMBERS_MAX);
    return calls
        .topicsWith(topicName)
        .compose(
            view -> {
              Shard shard = shard(view.existing(topicName), index);
              Future<Long> from =
                  offset >= 0
                      ? Future.succeededFuture(offset)
                      : calls.offset(shard, StartAt.EARLIEST);
              return from.compose(at -> read(page, shard, at));
            })
        .map(done -> page.items());
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

  /** Fetches until the page is full or the shard ends. */
  private Future<Void> read(Page page, Shard shard, long offset) {
    int bytes = Math.min(Limits.FETCH_BYTES_MAX, page.bytesLeft());
    FetchRequest request = FetchRequest.browse(shard, offset, bytes, page.itemsLeft(), 0);
    return calls
        .toLeaderOf(shard, Op.BROWSE, request.encode())
        // This gateway may run in an application, and the nodes in the first version.
        .recover(
            failure ->
                failure instanceof RefusedException refused && refused.refusal() == Refusal.INVALID
                    ? calls.toLeaderOf(shard, Op.BROWSE, request.encodeFormer())
                    : Future.failedFuture(failure))
        .recover(failure -> Future.failedFuture(outOfRange(offset, failure)))
        .compose(
            answer -> {
              FetchAnswer fetched = FetchAnswer.decode(answer);
              long next = take(page, shard, fetched, offset);
              boolean done = page.full() || next <= offset || next >= fetched.endOffset();
              return done ? Future.succeededFuture() : read(page, shard, next);
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

  /** Adds the messages from {@code offset} on. Returns the next offset to read. */
  static long take(Page page, Shard shard, FetchAnswer fetched, long offset) {
    long next = offset;
    for (FetchAnswer.Placed placed : fetched.batches()) {
      if (page.full()) {
        break;
      }
      RefusedException damage = damage(placed);
      BatchReader reader = placed.batch().reader(placed.baseOffset());
      while (reader.hasNext() && !page.full()) {
        long at = reader.nextOffset();
        JsonObject shown = show(page, shard, reader, at, damage);
        if (at >= offset) {
          page.add(shown);
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

  /** Shows an unreadable message as such, so that it does not hide the messages behind it. */
  private static JsonObject show(
      Page page, Shard shard, BatchReader reader, long offset, RefusedException damage) {
    try {
      if (damage != null) {
        throw damage;
      }
      return json(page, shard, offset, reader.next());
    } catch (RefusedException malformed) {
      reader.giveUp();
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
