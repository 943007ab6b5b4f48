package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.client.internal.produce.core.DueTime;
import dev.evenkeel.client.internal.produce.core.OutBatch;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import io.vertx.core.AsyncResult;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Carries batches to the leaders of their data groups: those that go to one group at one time share
 * a request. Tells the directory what it learns about leaders.
 */
public final class Appender<T> {
  /** Batches join a request up to this size. */
  private static final int REQUEST_BYTES_MAX = 1 << 20;

  /** How long one try waits for its answer; much less than what a message is tried for in all. */
  public static final long REQUEST_TIMEOUT_MILLIS = 5_000;

  /** Takes the outcome of one try of each batch of a request. */
  public interface Sink<T> {
    /**
     * @param epoch in which the batches were sent
     * @param results one for each batch, in order; their log index is -1 if all are refused
     * @param detail of a refusal of all of them, or null
     */
    void answered(List<OutBatch<T>> batches, int epoch, AppendResults results, String detail);
  }

  private final Link link;
  private final ClusterDirectory directory;
  private final LeaderClient leaders;
  private final long timeoutMillis;
  private final Sink<T> sink;

  public Appender(Link link, ClusterDirectory directory, long timeoutMillis, Sink<T> sink) {
    this.link = link;
    this.directory = directory;
    leaders = new LeaderClient(link, directory);
    this.timeoutMillis = timeoutMillis;
    this.sink = sink;
  }

  /** Sends batches, those of one shard in their order. */
  public void send(List<OutBatch<T>> batches, int epoch) {
    int groups = Math.max(1, directory.dataGroups());
    Map<Integer, List<OutBatch<T>>> byGroup = new LinkedHashMap<>();
    for (OutBatch<T> batch : batches) {
      byGroup.computeIfAbsent(batch.shard.dataGroup(groups), group -> new ArrayList<>()).add(batch);
    }
    byGroup.forEach((group, ofGroup) -> split(group, ofGroup, epoch));
  }

  private void split(int group, List<OutBatch<T>> batches, int epoch) {
    int from = 0;
    int bytes = 0;
    for (int i = 0; i < batches.size(); i++) {
      int more = AppendBody.DELAYED_SHARD_BYTES + batches.get(i).batch.length();
      boolean full = bytes + more > REQUEST_BYTES_MAX || i - from == AppendBody.BATCHES_MAX;
      if (i > from && full) {
        request(group, batches.subList(from, i), bytes, epoch);
        from = i;
        bytes = 0;
      }
      bytes += more;
    }
    request(group, batches.subList(from, batches.size()), bytes, epoch);
  }

  private void request(int group, List<OutBatch<T>> batches, int bytes, int epoch) {
    // Another leader takes them as well as the one that was asked: sequences tell them apart.
    leaders
        .ask(
            group,
            LeaderClient.Retry.NONE,
            (asked, leader) ->
                link.request(Addresses.data(leader), frame(batches, bytes), timeoutMillis)
                    .map(answer -> results(answer, batches.size())))
        .onComplete(answered -> answered(batches, epoch, answered));
  }

  private static Buffer frame(List<? extends OutBatch<?>> batches, int bytes) {
    // Written straight into the frame: one copy less of everything that is ever sent.
    Buffer frame = Buffer.buffer(Frames.HEADER_BYTES + bytes);
    frame.appendByte((byte) Frames.VERSION).appendByte((byte) Op.APPEND.ordinal());
    for (OutBatch<?> each : batches) {
      ByteBuffer batch = each.batch.bytes();
      frame.appendInt(each.shard.topicId());
      if (each.dueMillis == DueTime.NOW) {
        frame.appendInt(each.shard.shard());
      } else {
        frame.appendInt(-1 - each.shard.shard()).appendLong(each.dueMillis);
      }
      frame.appendBytes(batch.array(), batch.arrayOffset(), each.batch.length());
    }
    return frame;
  }

  private static AppendResults results(Buffer answer, int expected) {
    AppendResults results = AppendResults.decode(Frames.answerBody(answer));
    if (results.results().size() != expected) {
      throw new RefusedException(
          Refusal.INDETERMINATE,
          expected + " batches, but " + results.results().size() + " results");
    }
    return results;
  }

  private void answered(List<OutBatch<T>> batches, int epoch, AsyncResult<AppendResults> answered) {
    if (answered.failed()) {
      refuse(batches, epoch, RefusedException.of(answered.cause()));
      return;
    }
    for (Result result : answered.result().results()) {
      if (!result.ok() && refersElsewhere(result.refusal())) {
        directory.refresh();
        break;
      }
    }
    sink.answered(batches, epoch, answered.result(), null);
  }

  private static boolean refersElsewhere(Refusal refusal) {
    return switch (refusal) {
      case NOT_LEADER, UNAVAILABLE, INDETERMINATE, UNKNOWN_TOPIC, UNKNOWN_SHARD -> true;
      default -> false;
    };
  }

  private void refuse(List<OutBatch<T>> batches, int epoch, RefusedException refused) {
    List<Result> results = new ArrayList<>(batches.size());
    for (int i = 0; i < batches.size(); i++) {
      results.add(new Result(refused.refusal(), 0));
    }
    sink.answered(batches, epoch, new AppendResults(-1, results), refused.getMessage());
  }
}
