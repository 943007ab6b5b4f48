package dev.evenkeel.dispatcher.level.core;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides which members get the waiting messages. How many a member may be handed does not depend
 * on the others' hand-outs of this turn, so each is asked once.
 */
final class HandOutOrder {
  private final LevelPolicy.Strategy strategy;
  private final LevelMembers members;
  private final Deliveries deliveries;

  /** Where the next round begins. */
  private int turn;

  HandOutOrder(LevelPolicy.Strategy strategy, LevelMembers members, Deliveries deliveries) {
    this.strategy = strategy;
    this.members = members;
    this.deliveries = deliveries;
  }

  /** The member at this place of the order of turns has left. */
  void left(int place) {
    if (place < turn) {
      turn--;
    }
  }

  /** Hands out what may be handed out. */
  void handOut(long now) {
    if (deliveries.waitingAlone() > 0) {
      handOutAlone(now);
    }
    if (members.inTurn().isEmpty() || deliveries.waiting() == 0 || deliveries.waitingAlone() > 0) {
      return;
    }
    if (strategy == LevelPolicy.Strategy.PUSH) {
      push(now);
    } else {
      pull(now);
    }
  }

  /**
   * Hands messages that members may have died of to members that have nothing in hand, one to each.
   * As long as others of them wait, nobody gets anything else, so that members come to have nothing
   * in hand.
   */
  private void handOutAlone(long now) {
    for (MemberSlot slot : members.inTurn()) {
      if (deliveries.waitingAlone() > 0 && slot.items() == 0 && credit(slot) > 0) {
        hand(slot, now);
      }
    }
  }

  /** Hands one message to each of {@code newcomers} that has none. */
  void first(List<MemberSlot> newcomers, long now) {
    for (MemberSlot slot : newcomers) {
      if (deliveries.waiting() + deliveries.waitingAlone() == 0) {
        return;
      }
      if (slot.firstDueMillis < 0) {
        slot.firstDueMillis = now;
      }
      if (slot.items() == 0 && credit(slot) > 0) {
        hand(slot, now);
      }
    }
  }

  private void hand(MemberSlot slot, long now) {
    Item alone = deliveries.pollAlone();
    slot.hand(alone == null ? Objects.requireNonNull(deliveries.poll()) : alone, now);
    members.counts().handedOut(slot.name, 1, now);
  }

  /** How many more it may be handed now. */
  private int credit(MemberSlot slot) {
    if (slot.closing || slot.isAlone()) {
      return 0;
    }
    int may = Math.min(members.counts().mayHandOut(slot.name), slot.spanLeft());
    return strategy == LevelPolicy.Strategy.PUSH
        ? may
        : Math.min(may, slot.capacity - slot.items());
  }

  /**
   * Strategy push: the member whose turn it is, and for which all others wait if it may not take.
   */
  @Nullable MemberSlot turnHolder() {
    return strategy == LevelPolicy.Strategy.PUSH && !members.inTurn().isEmpty() ? inTurn() : null;
  }

  private void push(long now) {
    while (deliveries.waiting() > 0) {
      MemberSlot slot = inTurn();
      MemberSlot taker = credit(slot) > 0 ? slot : behind(slot);
      if (taker == null) {
        return;
      }
      hand(taker, now);
      if (taker == slot) {
        nextTurn();
      }
    }
  }

  /**
   * The member that takes out of turn: one that has nothing in hand and is behind, because its
   * messages failed or it has just joined. The member whose turn it is would wait for it for ever.
   * Null if there is none.
   */
  private @Nullable MemberSlot behind(MemberSlot turnHolder) {
    MemberSlot slot = turnHolder;
    for (int i = 0; i < members.inTurn().size(); i++) {
      String other = members.counts().waitsFor(slot.name);
      slot = other == null ? null : members.named(other);
      if (slot == null || slot.items() > 0) {
        return null;
      }
      if (credit(slot) > 0) {
        return slot;
      }
    }
    return null;
  }

  /** The one whose turn it is: one that closes has none, unless all do. */
  private MemberSlot inTurn() {
    List<MemberSlot> inTurn = members.inTurn();
    turn %= inTurn.size();
    for (int i = inTurn.size(); i > 0 && inTurn.get(turn).closing; i--) {
      nextTurn();
    }
    return inTurn.get(turn);
  }

  private void nextTurn() {
    turn = (turn + 1) % members.inTurn().size();
  }

  private void pull(long now) {
    List<MemberSlot> inTurn = members.inTurn();
    turn %= inTurn.size();
    int able = 0;
    for (MemberSlot slot : inTurn) {
      slot.handed = 0;
      slot.credit = credit(slot);
      able += slot.credit > 0 ? 1 : 0;
    }
    while (able > 0 && deliveries.waiting() > 0) {
      int share = Math.max(1, deliveries.waiting() / able);
      able = 0;
      for (int i = 0; i < inTurn.size() && deliveries.waiting() > 0; i++) {
        MemberSlot slot = inTurn.get(turn);
        nextTurn();
        int count = Math.min(share, Math.min(slot.credit, deliveries.waiting()));
        for (int each = 0; each < count; each++) {
          slot.hand(Objects.requireNonNull(deliveries.poll()), now);
        }
        if (count > 0) {
          slot.credit -= count;
          slot.handed += count;
        }
        able += slot.credit > 0 ? 1 : 0;
      }
    }
    for (MemberSlot slot : inTurn) {
      if (slot.handed > 0) {
        members.counts().handedOut(slot.name, slot.handed, now);
      }
    }
  }
}
