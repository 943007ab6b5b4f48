package dev.evenkeel.broker.state;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which topics the latest entries of the meta log have changed, so that whoever knows the topics up
 * to an entry need not read all of them again. It is kept in memory only, and begins anew with each
 * start of a node. Safe for use from any thread.
 */
public final class TopicChanges {
  /** Most changes that are remembered: 16 bytes each. */
  static final int CHANGES_MAX = 20_000;

  private record Change(long index, int topicId) {}

  private final ArrayDeque<Change> changes = new ArrayDeque<>();

  /** All changes of later entries are remembered; -1: it is not known of any entry. */
  private long sinceIndex = -1;

  /** An entry was applied. Call it after {@link #changed}. */
  synchronized void applied(long index) {
    if (sinceIndex < 0) {
      sinceIndex = index;
      changes.clear();
    }
  }

  /** An entry changes a topic. */
  synchronized void changed(long index, int topicId) {
    changes.addLast(new Change(index, topicId));
    if (changes.size() > CHANGES_MAX) {
      sinceIndex = Math.max(sinceIndex, changes.removeFirst().index());
    }
  }

  /**
   * The topics that entries after this one have changed, created or removed; null: that is not
   * known.
   */
  public synchronized @Nullable Set<Integer> since(long index) {
    if (sinceIndex < 0 || index < sinceIndex) {
      return null;
    }
    Set<Integer> topics = new LinkedHashSet<>();
    Iterator<Change> newest = changes.descendingIterator();
    while (newest.hasNext()) {
      Change change = newest.next();
      if (change.index() <= index) {
        break;
      }
      topics.add(change.topicId());
    }
    return topics;
  }
}
