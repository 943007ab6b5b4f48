package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.LevelCounts;
import dev.evenkeel.level.Range;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The members of a group as its level dispatcher sees them. */
final class LevelMembers {
  private final Map<String, MemberSlot> byName = new LinkedHashMap<>();
  private final Map<String, MemberSlot> byInstance = new HashMap<>();

  /** Those that take part, in the order of their turns. */
  private final List<MemberSlot> inTurn = new ArrayList<>();

  /** The counts of those that take part. */
  private LevelCounts counts;

  LevelMembers(Range range) {
    counts = new LevelCounts(range);
  }

  void add(MemberSlot slot) {
    byName.put(slot.name, slot);
    byInstance.put(slot.instance, slot);
  }

  void remove(MemberSlot slot) {
    byName.remove(slot.name);
    byInstance.remove(slot.instance);
  }

  Collection<MemberSlot> all() {
    return byName.values();
  }

  @Nullable MemberSlot named(String name) {
    return byName.get(name);
  }

  /** The run; null: it is none of a member. */
  @Nullable MemberSlot run(String instance) {
    return byInstance.get(instance);
  }

  List<MemberSlot> inTurn() {
    return inTurn;
  }

  LevelCounts counts() {
    return counts;
  }

  /** Goes on from these. */
  void restored(LevelCounts next) {
    counts = next;
  }
}
