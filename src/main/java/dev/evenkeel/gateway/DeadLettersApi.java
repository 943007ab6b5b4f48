package dev.evenkeel.gateway;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.DeadLettersAnswer.Opened;
import dev.evenkeel.protocol.wire.RecordCodec;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;

/** Lists and shows the dead letters of a group on all shards. */
final class DeadLettersApi {
  private final ClusterCalls calls;
  private final FailedMessages failed;

  DeadLettersApi(ClusterCalls calls, FailedMessages failed) {
    this.calls = calls;
    this.failed = failed;
  }

  /** Lists dead letters by topic, shard and offset, after the one that the request names. */
  Future<Object> list(JsonObject request) {
    return failed.list(request, each -> each.dead() > 0, this::fill);
  }

  private Future<Long> fill(
      ClusterView view, String group, FailedMessages.Id from, Page<JsonObject> page) {
    return opened(group, from, page.itemsLeft())
        .map(
            letters -> {
              for (Opened each : letters) {
                if (!page.full()) {
                  page.count(BatchBuilder.sizeOf(each.message()));
                  page.add(json(view, each));
                }
              }
              return letters.isEmpty()
                  ? null
                  : (Long) (letters.get(letters.size() - 1).letter().offset() + 1);
            });
  }

  /** Shows one dead letter. */
  Future<Object> show(JsonObject request) {
    String group = JsonFields.neededText(request, "group");
    String name = JsonFields.neededText(request, "deadLetter");
    return calls
        .newestTopics()
        .compose(
            view -> {
              FailedMessages.Id id = FailedMessages.id(view, name);
              return opened(group, id, 1)
                  .map(
                      found -> {
                        if (found.isEmpty() || found.get(0).letter().offset() != id.offset()) {
                          throw new RefusedException(
                              Refusal.OFFSET_OUT_OF_RANGE,
                              "group '" + group + "' has no dead letter " + name);
                        }
                        return json(view, found.get(0));
                      });
            });
  }

  private Future<List<Opened>> opened(String group, FailedMessages.Id from, int max) {
    return read(group, from.shard(), from.offset(), max, Limits.FETCH_BYTES_MAX)
        .map(DeadLettersAnswer::opened);
  }

  /**
   * Reads dead letters of one shard, from an offset on.
   *
   * @param bytesMax most bytes of their messages; 0: none of them
   */
  Future<DeadLettersAnswer> read(String group, Shard shard, long from, int max, int bytesMax) {
    Bytes body = new Bytes().text(group);
    RecordCodec.write(body, shard);
    body.i64(from).i32(max).i32(bytesMax);
    return calls.toLeaderOf(shard, Op.READ_DEAD_LETTERS, body).map(DeadLettersAnswer::decode);
  }

  private static JsonObject json(ClusterView view, Opened opened) {
    DeadLetter letter = opened.letter();
    JsonObject json =
        new JsonObject()
            .put("topic", FailedMessages.topicOf(view, letter.shard()))
            .put("shard", letter.shard().shard())
            .put("offset", letter.offset());
    Message message = opened.message();
    TextOrBase64.put(json, "key", message.key());
    TextOrBase64.put(json, "payload", message.payload());
    return json.put("attempts", letter.attempts())
        .put("error", letter.error())
        .put("firstFailed", Instant.ofEpochMilli(letter.firstFailedMillis()).toString())
        .put("lastFailed", Instant.ofEpochMilli(letter.lastFailedMillis()).toString());
  }
}
