package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.LevelCounts;
import java.util.List;
import java.util.Map;

/**
 * Who gets the waiting messages. What one may be dealt does not depend on what others are, so each
 * is asked once.
 */
final class HandOutOrder {
  private final LevelPolicy.Strategy strategy;

  /** Where the next draw begins. */
  private int turn;

  HandOutOrder(LevelPolicy.Strategy strategy) {
    this.strategy = strategy;
  }

  /** A member has come or gone before this place in the ring. */
  void ringChanged(int members) {
    turn = members == 0 ? 0 : turn % members;
  }

  void left(int place) {
    if (place < turn) {
      turn--;
    }
  }

  /** Deals from {@code line} to {@code ring}, whose members are all in the book. */
  void deal(
      List<MemberSlot> ring,
      Map<String, MemberSlot> byName,
      WaitingLine line,
      LevelCounts book,
      long now) {
    if (ring.isEmpty() || line.isEmpty()) {
      return;
    }
    if (strategy == LevelPolicy.Strategy.PUSH) {
      push(ring, byName, line, book, now);
      return;
    }
    ringChanged(ring.size());
    int able = 0;
    for (MemberSlot hand : ring) {
      hand.drawn = 0;
      hand.credit = credit(hand, book);
      able += hand.credit > 0 ? 1 : 0;
    }
    if (able == 0) {
      return;
    }
    pull(ring, line, able, now);
    for (MemberSlot hand : ring) {
      if (hand.drawn > 0) {
        book.dealt(hand.name, hand.drawn, now);
      }
    }
  }

  /** Deals one message to each of {@code newcomers} that has none. */
  void first(List<MemberSlot> newcomers, WaitingLine line, LevelCounts book, long now) {
    for (MemberSlot hand : newcomers) {
      if (line.isEmpty()) {
        return;
      }
      if (hand.firstDueMillis < 0) {
        hand.firstDueMillis = now;
      }
      if (hand.items() == 0 && credit(hand, book) > 0) {
        hand.deal(line.poll(), now);
        book.dealt(hand.name, 1, now);
      }
    }
  }

  /** How many more it may be dealt now. */
  private int credit(MemberSlot hand, LevelCounts book) {
    if (hand.closing) {
      return 0;
    }
    int may = Math.min(book.mayDeal(hand.name), hand.spanLeft());
    return strategy == LevelPolicy.Strategy.PUSH
        ? may
        : Math.min(may, hand.capacity - hand.items());
  }

  /** The one whose turn it is and who may not take, or null. */
  MemberSlot turnHolder(List<MemberSlot> ring) {
    if (strategy != LevelPolicy.Strategy.PUSH || ring.isEmpty()) {
      return null;
    }
    skipClosing(ring);
    return ring.get(turn);
  }

  private void push(
      List<MemberSlot> ring,
      Map<String, MemberSlot> byName,
      WaitingLine line,
      LevelCounts book,
      long now) {
    while (!line.isEmpty()) {
      skipClosing(ring);
      MemberSlot hand = ring.get(turn);
      MemberSlot taker = credit(hand, book) > 0 ? hand : behind(hand, ring.size(), byName, book);
      if (taker == null) {
        return;
      }
      taker.deal(line.poll(), now);
      book.dealt(taker.name, 1, now);
      if (taker == hand) {
        turn = (turn + 1) % ring.size();
      }
    }
  }

  /**
   * Who takes out of turn: one that has nothing in hand and is behind, since what it was dealt
   * failed or it joined just now. Whoever's turn it is would wait for it for ever. Null if nobody.
   */
  private MemberSlot behind(
      MemberSlot turn, int members, Map<String, MemberSlot> byName, LevelCounts book) {
    MemberSlot hand = turn;
    for (int i = 0; i < members; i++) {
      String other = book.waitsFor(hand.name);
      hand = other == null ? null : byName.get(other);
      if (hand == null || hand.items() > 0) {
        return null;
      }
      if (credit(hand, book) > 0) {
        return hand;
      }
    }
    return null;
  }

  private void skipClosing(List<MemberSlot> ring) {
    ringChanged(ring.size());
    for (int i = ring.size(); i > 0 && ring.get(turn).closing; i--) {
      turn = (turn + 1) % ring.size();
    }
  }

  private void pull(List<MemberSlot> ring, WaitingLine line, int able, long now) {
    while (able > 0 && !line.isEmpty()) {
      int share = Math.max(1, line.size() / able);
      able = 0;
      for (int i = 0; i < ring.size() && !line.isEmpty(); i++) {
        MemberSlot hand = ring.get(turn);
        turn = (turn + 1) % ring.size();
        int count = Math.min(share, Math.min(hand.credit, line.size()));
        for (int each = 0; each < count; each++) {
          hand.deal(line.poll(), now);
        }
        if (count > 0) {
          hand.credit -= count;
          hand.drawn += count;
        }
        able += hand.credit > 0 ? 1 : 0;
      }
    }
  }
}
