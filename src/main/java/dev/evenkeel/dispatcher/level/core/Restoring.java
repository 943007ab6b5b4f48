package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.Checkpoint;
import dev.evenkeel.level.LevelCounts;
import dev.evenkeel.level.Range;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Who of those that told their place goes on from it. Who does not joins anew: it was never told
 * one, it had left the book when others were dealt more, or it and an older one do not know of each
 * other.
 */
final class Restoring {
  private final Map<MemberSlot, Checkpoint> fit = new LinkedHashMap<>();

  Restoring(Range range, Collection<MemberSlot> placed) {
    Map<MemberSlot, Checkpoint> standings = new LinkedHashMap<>();
    MemberCheckpoint latest = null;
    for (MemberSlot hand : placed) {
      MemberCheckpoint told = MemberCheckpoint.decode(hand.place.checkpoint());
      if (told != null && told.checkpoint().name().equals(hand.name)) {
        int held = hand.place.held().size();
        standings.put(hand, told.checkpoint().with(hand.place.finished(), held));
        latest =
            latest == null || MemberCheckpoint.BY_TIME.compare(latest, told) < 0 ? told : latest;
      }
    }
    Set<Long> members = latest == null ? Set.of() : latest.members();
    List<MemberSlot> inOrder = new ArrayList<>(standings.keySet());
    inOrder.sort(Comparator.comparingLong(hand -> standings.get(hand).joined()));
    for (MemberSlot hand : inOrder) {
      Checkpoint checkpoint = standings.get(hand);
      if (members.contains(checkpoint.joined()) && fits(checkpoint, range)) {
        fit.put(hand, checkpoint);
      }
    }
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

  /** The book of those that fit. */
  LevelCounts book(Range range, long joinedFrom, long now) {
    try {
      return LevelCounts.restore(range, fit.values(), joinedFrom, now);
    } catch (IllegalArgumentException | IllegalStateException e) {
      // What was told makes no sense: begin afresh.
      fit.clear();
      return LevelCounts.restore(range, List.of(), joinedFrom, now);
    }
  }

  boolean fits(MemberSlot hand) {
    return fit.containsKey(hand);
  }
}
