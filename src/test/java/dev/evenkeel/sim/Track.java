package dev.evenkeel.sim;

import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.StartAt;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a group did with one shard. What became of its messages counts from the last reset. */
final class Track {
  final ShardLogs.ShardLog log;

  /** By an owner of this generation, or before it began. */
  final BitSet handled = new BitSet();

  /** The log has a copy of them, or knows what has become of them: they left the window. */
  final BitSet left = new BitSet();

  /**
   * When those failed last that the log has among the dead letters, also of an earlier generation.
   */
  final Map<Long, Long> letters = new HashMap<>();

  /** They became dead letters in this generation. */
  final BitSet dead = new BitSet();

  final Map<Long, String> owners = new HashMap<>();
  long epoch;
  long committed = -1;

  /** What was asked for of resets, and where those that were taken led, by their epochs. */
  final Set<StartAt> asked = new HashSet<>();

  final Map<Long, StartAt> resets = new HashMap<>();
  private final List<Long> resetEpochs = new ArrayList<>();

  /** The dead letters at the last reset. */
  private Map<Long, Long> lettersBefore = Map.of();

  /** Where this generation began. */
  long base;

  /** The number of this generation in the lease. */
  long number;

  /** When the lease was made; virtual time. */
  long madeMillis;

  /** Up to here it was seen that the log has what was published. */
  int published;

  Track(ShardLogs.ShardLog log) {
    this.log = log;
  }

  /** Handled, or a dead letter. */
  BitSet done() {
    BitSet done = (BitSet) handled.clone();
    done.or(dead);
    return done;
  }

  void letters(List<DeadLetter> now) {
    for (DeadLetter letter : now) {
      letters.put(letter.offset(), letter.lastFailedMillis());
      if (!letters.get(letter.offset()).equals(lettersBefore.get(letter.offset()))) {
        dead.set((int) letter.offset());
      }
    }
  }

  // ---- Resets

  /** How often the shard had been reset before {@code ownerEpoch} was granted. */
  int generation(long ownerEpoch) {
    int generation = 0;
    while (generation < resetEpochs.size() && resetEpochs.get(generation) < ownerEpoch) {
      generation++;
    }
    return generation;
  }

  int generation() {
    return resetEpochs.size();
  }

  /** The lease was dropped: a later one begins as if nothing had been done. */
  void forgotten(long atEpoch) {
    handled.clear();
    left.clear();
    dead.clear();
    letters.clear();
    lettersBefore = Map.of();
    base = 0;
    published = 0;
    committed = -1;
    resetEpochs.add(atEpoch);
  }

  /** Where a group shall go on that is reset to {@code to} now. */
  long position(StartAt to) {
    return switch (to.kind()) {
      case EARLIEST -> 0;
      case LATEST -> log.keys.size();
      case OFFSET -> to.value();
      case TIMESTAMP -> {
        int offset = 0;
        while (offset < log.timestamps.size() && log.timestamps.get(offset) < to.value()) {
          offset++;
        }
        yield offset;
      }
    };
  }

  /** The shard was reset: from {@code offset} on everything is to be done again. */
  void reset(StartAt to, long offset, long atEpoch) {
    int from = (int) offset;
    for (int skipped = left.nextClearBit(0); skipped < from; ) {
      handled.set(skipped);
      skipped = left.nextClearBit(skipped + 1);
    }
    handled.clear(from, log.keys.size());
    left.clear(from, log.keys.size());
    dead.clear(from, log.keys.size());
    base = offset;
    published = from;
    committed = offset;
    epoch = atEpoch;
    resets.put(atEpoch, to);
    resetEpochs.add(atEpoch);
    lettersBefore = Map.copyOf(letters);
  }
}
