package dev.evenkeel.gateway;

import dev.evenkeel.api.ListRetries;
import dev.evenkeel.api.ListRetries.Retry;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.RetriesList;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.List;

/**
 * Lists the messages of a group that failed and wait for another attempt, or behind one that does.
 */
record RetriesApi(ClusterCalls calls, FailedMessages failed) {
  /** By topic, shard and offset, after the one that the request names. */
  Future<List<Retry>> list(ListRetries asked) {
    return failed.list(
        asked.group(),
        asked.after(),
        asked.limit(),
        each -> each.waiting() + each.parked() + each.held() > 0,
        this::fill);
  }

  private Future<Long> fill(
      ClusterView view, String group, FailedMessages.Id from, Page<Retry> page) {
    Shard shard = from.shard();
    return calls
        .toLeaderOf(
            shard,
            Calls.READ_RETRIES,
            new Calls.ReadRetries(group, shard, from.offset(), page.itemsLeft()))
        .map(
            answer -> {
              answer.waiting().forEach(each -> page.add(retry(view, shard, each)));
              // That was all, or the page is full.
              return null;
            });
  }

  private static Retry retry(ClusterView view, Shard shard, RetriesList.WaitingRetry each) {
    boolean parked = each.place() == RetriesList.PARKED;
    return new Retry(
        FailedMessages.topicOf(view, shard),
        shard.shard(),
        each.offset(),
        parked,
        each.place() == RetriesList.IN_WINDOW,
        each.attempts(),
        parked ? null : (Long) each.dueInMillis(),
        time(each.firstFailedMillis()),
        time(each.lastFailedMillis()));
  }

  private static Instant time(long millis) {
    return millis == 0 ? null : Instant.ofEpochMilli(millis);
  }
}
