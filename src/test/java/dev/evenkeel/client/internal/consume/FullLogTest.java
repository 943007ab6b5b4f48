package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A shard of which so many messages failed that the log takes no more of them. */
class FullLogTest extends CoreBench {
  private static final long FIRST = 1_000;
  private static final int OF_B = 2 * ShardRetries.IN_HAND_MAX;

  private final List<Long> begun = new ArrayList<>();

  /** What waits in the log, and its key. */
  private final Map<Long, String> waiting = new TreeMap<>();

  private static long hash(String key) {
    return Task.hash(key.getBytes(StandardCharsets.UTF_8));
  }

  /** Those of the key B come first. */
  private RetryAnswer answerTo(RetryRequest request) {
    List<Long> due =
        waiting.keySet().stream()
            .filter(offset -> !request.inHand().contains(offset))
            .sorted((a, b) -> waiting.get(b).compareTo(waiting.get(a)))
            .toList();
    List<RetryAnswer.Retry> some =
        due.stream().limit(request.messagesMax()).map(this::retry).toList();
    return new RetryAnswer(
        due.size() > some.size() ? 0 : -1, some, request.first() ? known() : null, List.of());
  }

  private RetryAnswer.Retry retry(long offset) {
    byte[] key = waiting.get(offset).getBytes(StandardCharsets.UTF_8);
    byte[] copy = MessageCodec.encode(new Message(key, Map.of(), 0, new byte[10]));
    return new RetryAnswer.Retry(offset, 1, Task.hash(key), copy);
  }

  private RetryAnswer.Known known() {
    List<Long> marks = waiting.keySet().stream().filter(offset -> offset > FIRST).toList();
    return new RetryAnswer.Known(
        marks,
        List.of(),
        List.of(
            new RetryAnswer.KeyQueue(hash("A"), 1, 5),
            new RetryAnswer.KeyQueue(hash("B"), marks.size(), FIRST + 1)));
  }

  private void recorded(Wanted.RecordOutcomes wanted) {
    List<Long> noRoom = new ArrayList<>();
    for (Outcome each : wanted.command().outcomes()) {
      if (each instanceof Outcome.Settled) {
        waiting.remove(each.offset());
      } else {
        noRoom.add(each.offset());
      }
    }
    wanted.owned().recorded(wanted.command(), noRoom, now);
  }

  /** Plays the log and the handlers until nothing happens any more. */
  private void play() {
    int idle = 0;
    while (idle < 20) {
      tick(ConsumerCore.TICK_MILLIS);
      idle++;
      for (Wanted.FetchRetries each : takeAll(Wanted.FetchRetries.class)) {
        each.owned().retriesFetched(each.request(), answerTo(each.request()), now);
      }
      takeAll(Wanted.RecordOutcomes.class).forEach(this::recorded);
      Task task;
      while ((task = core.next(now)) != null) {
        begun.add(task.offset);
        core.finished(task, now);
        idle = 0;
      }
    }
  }

  /**
   * The former owner moved many messages that lie behind one for which there was no room. They must
   * wait for that one, which waits for a message of its key in the log.
   */
  @Test
  void messagesThatMustWaitTakeNoRoomFromThoseForWhichTheyWait() {
    waiting.put(5L, "A");
    LongStream.rangeClosed(FIRST + 1, FIRST + OF_B).forEach(offset -> waiting.put(offset, "B"));
    options.setOrder(ConsumerOptions.Order.KEY);
    begin(false, false);
    assign(owned(S0, 5, false));
    take(Wanted.ReadLease.class).owned().takeover.leaseRead(lease(S0, 5, FIRST, -1, null), now);
    take(Wanted.CallAssign.class).owned().takeover.assignDone(null, now);
    Wanted.Fetch fetch = take(Wanted.Fetch.class);
    List<String> keys = new ArrayList<>(Collections.nCopies(OF_B + 1, "B"));
    keys.set(0, "A");
    FetchAnswer.Placed window =
        new FetchAnswer.Placed(FIRST, batch(keys.toArray(new String[keys.size()])));
    int failures = waiting.size();
    fetch
        .owned()
        .fetched(
            fetch.request(), new FetchAnswer(0, FIRST + OF_B + 1, failures, List.of(window)), now);
    play();
    List<Long> inOrder = new ArrayList<>(List.of(5L));
    LongStream.rangeClosed(FIRST, FIRST + OF_B).forEach(inOrder::add);
    assertThat(begun).isEqualTo(inOrder);
    assertThat(waiting).isEmpty();
    assertThat(core.environment.flow.messages).isZero();
  }
}
