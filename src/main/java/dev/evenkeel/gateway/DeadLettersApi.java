package dev.evenkeel.gateway;

import dev.evenkeel.api.DeadLetterView;
import dev.evenkeel.api.DescribeDeadLetter;
import dev.evenkeel.api.ListDeadLetters;
import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.DeadLettersAnswer.Opened;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.List;

/** Lists and shows the dead letters of a group on all shards. */
record DeadLettersApi(ClusterCalls calls, FailedMessages failed) {
  /** Lists dead letters by topic, shard and offset, after the one that the request names. */
  Future<List<DeadLetterView>> list(ListDeadLetters asked) {
    return failed.list(
        asked.group(), asked.after(), asked.limit(), each -> each.dead() > 0, this::fill);
  }

  private Future<Long> fill(
      ClusterView view, String group, FailedMessages.Id from, Page<DeadLetterView> page) {
    return opened(group, from, page.itemsLeft())
        .map(
            letters -> {
              for (Opened each : letters) {
                if (!page.full()) {
                  page.count(BatchBuilder.sizeOf(each.message()));
                  page.add(letter(view, each));
                }
              }
              return letters.isEmpty()
                  ? null
                  : (Long) (letters.get(letters.size() - 1).letter().offset() + 1);
            });
  }

  /** Shows one dead letter. */
  Future<DeadLetterView> show(DescribeDeadLetter asked) {
    String group = asked.group();
    String name = asked.deadLetter();
    return calls
        .newestTopics()
        .compose(
            view -> {
              FailedMessages.Id id = FailedMessages.id(view, name);
              return opened(group, id, 1)
                  .map(
                      found -> {
                        if (found.isEmpty() || found.get(0).letter().offset() != id.offset()) {
                          throw Refusal.OFFSET_OUT_OF_RANGE.error(
                              "group '" + group + "' has no dead letter " + name);
                        }
                        return letter(view, found.get(0));
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
    return calls.toLeaderOf(
        shard,
        Calls.READ_DEAD_LETTERS,
        new Calls.ReadDeadLetters(group, shard, from, max, bytesMax));
  }

  private static DeadLetterView letter(ClusterView view, Opened opened) {
    DeadLetter letter = opened.letter();
    Message message = opened.message();
    return new DeadLetterView(
        FailedMessages.topicOf(view, letter.shard()),
        letter.shard().shard(),
        letter.offset(),
        TextOrBytes.of(message.key()),
        TextOrBytes.of(message.payload()),
        letter.attempts(),
        letter.error(),
        Instant.ofEpochMilli(letter.firstFailedMillis()),
        Instant.ofEpochMilli(letter.lastFailedMillis()));
  }
}
