package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.FetchRetries;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A shard of which so many messages failed that the log takes no more of them. */
class FullLogTest extends CoreBench {
  private static final long FIRST = 1_000;
  private static final int OF_B = 2 * ShardRetries.IN_HAND_MAX;
  private static final int BEHIND = 40;

  private final List<Long> begun = new ArrayList<>();
  private int failures = OF_B;

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

  private void recorded(RecordOutcomes wanted) {
    List<Long> noRoom = new ArrayList<>();
    for (Outcome each : wanted.command().outcomes()) {
      if (each instanceof Outcome.Settled) {
        waiting.remove(each.offset());
      } else if (each.offset() == FIRST) {
        noRoom.add(FIRST);
      } else {
        waiting.put(each.offset(), "B");
      }
    }
    answer(wanted, new Reply.OfOffsets(noRoom));
  }

  /**
   * Plays the log and the handlers until nothing happens any more.
   *
   * @param rounds how long requests are under way until the log hears of them
   */
  private void play(int rounds) {
    int idle = 0;
    ArrayDeque<List<FetchRetries>> underWay = new ArrayDeque<>();
    while (idle < 20) {
      tick(ConsumerCore.TICK_MILLIS);
      idle++;
      takeAll(RecordOutcomes.class).forEach(this::recorded);
      underWay.add(takeAll(FetchRetries.class));
      if (underWay.size() > rounds) {
        for (FetchRetries each : underWay.poll()) {
          answer(each, answerTo(each.request()));
        }
      }
      Task task;
      while ((task = core.next(now)) != null) {
        begun.add(task.offset);
        finish(task);
        idle = 0;
      }
    }
  }

  /** The former owner moved so many messages behind one for which there was no room. */
  private OwnedShard runBehind(int moved, int messages) {
    waiting.put(5L, "A");
    LongStream.rangeClosed(FIRST + 1, FIRST + moved).forEach(offset -> waiting.put(offset, "B"));
    options.setOrder(Order.KEY);
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, FIRST, -1, null));
    answer(take(CallAssign.class), null);
    List<String> keys = new ArrayList<>(Collections.nCopies(messages, "B"));
    keys.set(0, "A");
    return fetched(FIRST, keys);
  }

  private OwnedShard fetched(long from, List<String> keys) {
    Fetch fetch = take(Fetch.class);
    FetchAnswer.Placed batch =
        new FetchAnswer.Placed(from, batch(keys.toArray(new String[keys.size()])));
    long end = from + keys.size();
    answer(fetch, new FetchAnswer(0, end, ++failures, List.of(batch)));
    return (OwnedShard) fetch.owned();
  }

  private void begunInOrder(long end) {
    List<Long> inOrder = new ArrayList<>(List.of(5L));
    LongStream.range(FIRST, end).forEach(inOrder::add);
    assertThat(begun).isEqualTo(inOrder);
    assertThat(waiting).isEmpty();
    assertThat(core.environment.flow.messages).isZero();
  }

  /** They must wait for that one, which waits for a message of its key in the log. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void messagesThatMustWaitTakeNoRoomFromThoseForWhichTheyWait(int rounds) {
    runBehind(OF_B, 1 + OF_B + BEHIND);
    play(rounds);
    begunInOrder(FIRST + 1 + OF_B + BEHIND);
  }

  /** A request under way leaves out those that had to wait when it was sent. */
  @Test
  void messagesBehindThoseThatHadToWaitDoNotOvertakeThem() {
    OwnedShard shard = runBehind(BEHIND, 1 + BEHIND);
    tick(ConsumerCore.TICK_MILLIS);
    FetchRetries first = take(FetchRetries.class);
    answer(first, answerTo(first.request()));
    core.finished(begins(5), now);
    tick(ConsumerCore.TICK_MILLIS);
    takeAll(RecordOutcomes.class).forEach(this::recorded);
    tick(ConsumerCore.TICK_MILLIS);
    takeAll(RecordOutcomes.class).forEach(this::recorded);
    Task held = begins(FIRST);
    // Others have come, and a request for retries goes out.
    fetched(FIRST + 1 + BEHIND, Collections.nCopies(BEHIND, "B"));
    tick(2_000);
    FetchRetries underWay = take(FetchRetries.class);
    assertThat(underWay.request().inHand()).hasSize(BEHIND);
    assertThat(core.next(now)).isNull();
    finish(held);
    tick(ConsumerCore.TICK_MILLIS);
    takeAll(RecordOutcomes.class).forEach(this::recorded);
    tick(ConsumerCore.TICK_MILLIS);
    answer(underWay, answerTo(underWay.request()));
    assertThat(core.next(now)).as("those before it have not come").isNull();
    play(0);
    begunInOrder(FIRST + 1 + 2 * BEHIND);
  }

  private Task begins(long offset) {
    Task task = next(offset);
    begun.add(offset);
    return task;
  }
}
