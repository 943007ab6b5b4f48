package dev.evenkeel.gateway;

import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import dev.evenkeel.protocol.wire.DelayedAnswer.DelayedCopy;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * Merges what the shards of a topic have into one page, the message that is due first in front. It
 * holds no more than a page, however many shards there are.
 */
final class DelayedMerge {
  private final int messagesMax;
  private final long bytesMax;
  private final TreeSet<DelayedCopy> first = new TreeSet<>(Comparator.comparing(DelayedCopy::id));
  private long bytes;

  /** Nothing from here on is in the page; null: everything is. */
  private DelayedId next;

  /**
   * @param messagesMax most messages of the page
   * @param bytesMax the page ends with the message that reaches this
   */
  DelayedMerge(int messagesMax, long bytesMax) {
    this.messagesMax = messagesMax;
    this.bytesMax = bytesMax;
  }

  /** Adds the answer of a shard. */
  void add(DelayedAnswer answer) {
    if (answer.next() != null) {
      endBefore(answer.next());
    }
    for (DelayedCopy each : answer.messages()) {
      if (next != null && each.id().compareTo(next) >= 0) {
        break;
      }
      first.add(each);
      bytes += size(each);
      while (first.size() > messagesMax || bytes - size(first.last()) >= bytesMax) {
        endBefore(first.last().id());
      }
    }
  }

  private void endBefore(DelayedId end) {
    if (next == null || end.compareTo(next) < 0) {
      next = end;
    }
    while (!first.isEmpty() && first.last().id().compareTo(next) >= 0) {
      bytes -= size(first.pollLast());
    }
  }

  private static long size(DelayedCopy waiting) {
    return 64 + (waiting.copy() == null ? 0 : waiting.copy().length);
  }

  /** The messages of the page. */
  List<DelayedCopy> messages() {
    return List.copyOf(first);
  }

  /** Where the next page begins; null: this is the last one. */
  DelayedId next() {
    return next;
  }
}
