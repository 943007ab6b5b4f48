package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.client.Source;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.protocol.wire.Batch;
import java.util.List;
import java.util.Map;

/** One record of a spool. */
public sealed interface SpoolRecord {

  /** All that earlier segments add up to: the first record of each segment. */
  record Snapshot(SpoolState state) implements SpoolRecord {}

  /**
   * A program has opened the spool. Its messages count from sequence 0 in each shard.
   *
   * @param number one higher than that of the run before
   * @param fresh whether the source is read from its start
   * @param source what is read from now on; null: nothing that could be read again
   */
  record Run(int number, boolean fresh, Source source) implements SpoolRecord {}

  /**
   * Messages that were accepted together.
   *
   * @param number one higher than that of the frame before
   * @param run in which the batches have their sequences
   * @param spooledMillis when, milliseconds since 1970
   * @param position of the source after them; null without a source
   * @param items batches; their sequences count within the run, and follow those of earlier frames
   */
  record Frame(long number, int run, long spooledMillis, SourcePosition position, List<Item> items)
      implements SpoolRecord {

    public int messages() {
      int sum = 0;
      for (Item item : items) {
        sum += item.batch().count();
      }
      return sum;
    }

    public int bytes() {
      int sum = 0;
      for (Item item : items) {
        sum += item.batch().length();
      }
      return sum;
    }
  }

  /**
   * A batch, and the index of its shard in the topic.
   *
   * @param dueMillis when its messages are due, of {@code DueTime}; 0: at once
   */
  record Item(int shard, Batch batch, long dueMillis) {}

  /**
   * Every frame up to this one is in the log.
   *
   * @param messages of all those frames, since the spool began
   */
  record Acked(long frame, long messages) implements SpoolRecord {}

  /**
   * A run is about to get this epoch. Written before any data group hears of it: from then on the
   * epoch before may be fenced, and a program that finds this record opens the epoch again.
   *
   * @param bases by shard, the sequence within the run up to which the log is known to have all;
   *     only if the run has an epoch already
   */
  record Opening(int run, long producerId, int epoch, Map<Integer, Long> bases)
      implements SpoolRecord {}

  /**
   * A run has its epoch, which every data group of the log knows. Written before the first batch is
   * sent in it.
   *
   * @param bases by shard, the sequence within the run that is 0 in the epoch; absent: 0
   */
  record Opened(int run, long producerId, int epoch, Map<Integer, Long> bases)
      implements SpoolRecord {}
}
