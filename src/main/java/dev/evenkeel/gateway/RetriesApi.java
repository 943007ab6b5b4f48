package dev.evenkeel.gateway;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.RetriesList;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Iterator;

/**
 * Lists the messages of a group that failed and wait for another attempt, or behind one that does.
 */
final class RetriesApi {
  private final ClusterCalls calls;
  private final DeadLettersApi deadLetters;

  RetriesApi(ClusterCalls calls, DeadLettersApi deadLetters) {
    this.calls = calls;
    this.deadLetters = deadLetters;
  }

  /** By topic, shard and offset, after the one that the request names. */
  Future<Object> list(JsonObject request) {
    String group = JsonFields.neededText(request, "group");
    Page page = Page.of(request);
    String after = JsonFields.text(request, "after");
    return calls
        .topics()
        .compose(
            view -> {
              DeadLettersApi.LetterId last = after == null ? null : DeadLettersApi.id(view, after);
              return deadLetters
                  .figures(view, group)
                  .compose(
                      figures -> {
                        Iterator<Shard> shards =
                            figures.stream()
                                .filter(each -> each.waiting() + each.parked() + each.held() > 0)
                                .map(FailureFigures::shard)
                                .filter(each -> last == null || each.compareTo(last.shard()) >= 0)
                                .sorted()
                                .iterator();
                        return fill(page, view, group, shards, last);
                      });
            })
        .map(done -> page.items());
  }

  private Future<Void> fill(
      Page page,
      ClusterView view,
      String group,
      Iterator<Shard> shards,
      DeadLettersApi.LetterId last) {
    if (page.full() || !shards.hasNext()) {
      return Future.succeededFuture();
    }
    Shard shard = shards.next();
    boolean begun = last != null && shard.equals(last.shard());
    Bytes body = new Bytes().text(group);
    RecordCodec.write(body, shard);
    body.i64(begun ? last.offset() + 1 : 0).i32(page.itemsLeft());
    return calls
        .toLeaderOf(shard, Op.READ_RETRIES, body)
        .map(RetriesList::decode)
        .compose(
            found -> {
              found.waiting().forEach(each -> page.add(json(view, shard, each)));
              return fill(page, view, group, shards, last);
            });
  }

  private static JsonObject json(ClusterView view, Shard shard, RetriesList.Waiting each) {
    boolean parked = each.place() == RetriesList.PARKED;
    return new JsonObject()
        .put("topic", DeadLettersApi.topicOf(view, shard))
        .put("shard", shard.shard())
        .put("offset", each.offset())
        .put("parked", parked)
        .put("blocksShard", each.place() == RetriesList.IN_WINDOW)
        .put("attempts", each.attempts())
        .put("dueInMs", parked ? null : (Long) each.dueInMillis())
        .put("firstFailed", time(each.firstFailedMillis()))
        .put("lastFailed", time(each.lastFailedMillis()));
  }

  private static String time(long millis) {
    return millis == 0 ? null : Instant.ofEpochMilli(millis).toString();
  }
}
