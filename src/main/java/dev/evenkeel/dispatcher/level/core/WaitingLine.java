package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Messages that wait to be dealt: first those that were dealt before, by shard and offset, then the
 * others as they came. What delivers them bounds how many there are.
 */
final class WaitingLine {
  private final ArrayDeque<Item> fresh = new ArrayDeque<>();
  private final PriorityQueue<Item> again = new PriorityQueue<>(Item::byPlace);

  void add(Item item) {
    fresh.add(item);
  }

  void addAgain(Item item) {
    again.add(item);
  }

  int size() {
    return fresh.size() + again.size();
  }

  boolean isEmpty() {
    return fresh.isEmpty() && again.isEmpty();
  }

  /** The next message, or null. */
  Item poll() {
    Item item = again.poll();
    return item == null ? fresh.poll() : item;
  }

  /** Takes those of {@code shard} out. */
  List<Item> take(Shard shard) {
    List<Item> taken = new ArrayList<>();
    take(fresh.iterator(), shard, taken);
    take(again.iterator(), shard, taken);
    return taken;
  }

  private static void take(Iterator<Item> items, Shard shard, List<Item> taken) {
    while (items.hasNext()) {
      Item item = items.next();
      if (item.id.shard().equals(shard)) {
        items.remove();
        taken.add(item);
      }
    }
  }
}
