package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.level.Checkpoint;
import dev.evenkeel.level.LevelCounts;
import dev.evenkeel.level.Range;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Decides which members go on from their checkpoints. The others join anew: those that never got a
 * checkpoint, that had left when others were handed more, or that do not know of an older member.
 */
final class Restoring {
  private final Map<MemberSlot, Checkpoint> fit = new LinkedHashMap<>();

  Restoring(Range range, Collection<MemberSlot> placed) {
    Map<MemberSlot, Checkpoint> checkpoints = new LinkedHashMap<>();
    MemberCheckpoint latest = null;
    for (MemberSlot slot : placed) {
      SessionState answer = Objects.requireNonNull(slot.answer);
      MemberCheckpoint kept = MemberCheckpoint.decode(answer.checkpoint());
      if (kept != null && kept.checkpoint().name().equals(slot.name)) {
        int held = answer.held().size();
        checkpoints.put(slot, kept.checkpoint().with(answer.finished(), held));
        latest =
            latest == null || MemberCheckpoint.BY_TIME.compare(latest, kept) < 0 ? kept : latest;
      }
    }
    Set<Long> members = latest == null ? Set.of() : latest.members();
    checkpoints.entrySet().stream()
        .sorted(Comparator.comparingLong(each -> each.getValue().joined()))
        .filter(each -> members.contains(each.getValue().joined()))
        .forEach(
            each -> {
              if (fits(each.getValue(), range)) {
                fit.put(each.getKey(), each.getValue());
              }
            });
  }

  private boolean fits(Checkpoint young, Range range) {
    Map<Long, Checkpoint.Reference> known = new HashMap<>();
    young.references().forEach(each -> known.put(each.joined(), each));
    for (Checkpoint old : fit.values()) {
      Checkpoint.Reference reference = known.get(old.joined());
      if (reference == null
          || old.finished() - reference.low() - young.finished() > range.steps()) {
        return false;
      }
    }
    return true;
  }

  /** The counts of those that fit. */
  LevelCounts counts(Range range, long joinedFrom, long now) {
    try {
      return LevelCounts.restore(range, fit.values(), joinedFrom, now);
    } catch (IllegalArgumentException | IllegalStateException e) {
      // The checkpoints contradict each other: begin afresh.
      fit.clear();
      return LevelCounts.restore(range, List.of(), joinedFrom, now);
    }
  }

  boolean fits(MemberSlot slot) {
    return fit.containsKey(slot);
  }
}
