package dev.evenkeel.dedup;

import java.util.function.Predicate;

/**
 * One key's automaton: the head works, the tail waits, everybody else is declined.
 *
 * <table>
 * <caption>Transitions. A is the head, B the tail, X anybody else</caption>
 * <tr><th>state</th><th>operation</th><th>state after</th><th>answer</th></tr>
 * <tr><td>INIT</td><td>enQueue X</td><td>PROCESS, X is the head</td><td>ACCEPT</td></tr>
 * <tr><td>INIT</td><td>deQueue X</td><td>INIT</td><td>NOT_HEAD</td></tr>
 * <tr><td>PROCESS</td><td>enQueue A</td><td>PROCESS</td><td>ACCEPT, again</td></tr>
 * <tr><td>PROCESS</td><td>enQueue X</td><td>BLOCK, X is the tail</td><td>BLOCK</td></tr>
 * <tr><td>PROCESS</td><td>deQueue A</td><td>INIT</td><td>FREED</td></tr>
 * <tr><td>PROCESS</td><td>deQueue X</td><td>PROCESS</td><td>NOT_HEAD</td></tr>
 * <tr><td>BLOCK</td><td>enQueue A</td><td>BLOCK</td><td>ACCEPT, again</td></tr>
 * <tr><td>BLOCK</td><td>enQueue B</td><td>BLOCK</td><td>BLOCK, again</td></tr>
 * <tr><td>BLOCK</td><td>enQueue X</td><td>DECLINE, and at once BLOCK</td><td>DECLINE</td></tr>
 * <tr><td>BLOCK, B may have begun</td><td>enQueue X</td><td>BLOCK, X is the tail</td>
 * <td>BLOCK</td></tr>
 * <tr><td>BLOCK</td><td>deQueue A</td><td>PROCESS, B is the head</td><td>PASSED_ON</td></tr>
 * <tr><td>BLOCK</td><td>deQueue B</td><td>PROCESS</td><td>LEFT_QUEUE</td></tr>
 * <tr><td>BLOCK</td><td>deQueue X</td><td>BLOCK</td><td>NOT_HEAD</td></tr>
 * <tr><td>PROCESS, BLOCK</td><td>evict A</td><td>as deQueue A</td><td></td></tr>
 * <tr><td>PROCESS, BLOCK</td><td>drop those of the dead</td><td>as deQueue of each, the tail
 * first</td><td></td></tr>
 * </table>
 *
 * <p>A claim says until when it surely waits, and asks again before that. Past it the tail may have
 * begun without being the head, or be over, so nobody is declined for its sake any more.
 *
 * <p>Every operation may be repeated: a claim that has a place keeps it, and one that has none
 * changes nothing when it leaves. So a head that was evicted and comes back late cannot push out
 * its successor.
 *
 * <p>The states, and the rule that one waits because it must see what changed since the head began,
 * are those of the articles on queues for repeated requests; token, eviction and the giving up of a
 * waiter's place are ours. Not safe for threads: who shares it guards it.
 *
 * @param <C> what a coordinator keeps with a claim
 */
public class Automaton<C extends Claim> {
  private C head;
  private C tail;

  public Automaton() {}

  /** As it was stored. */
  Automaton(C head, C tail) {
    this.head = head;
    this.tail = tail;
  }

  /** Never {@link State#DECLINE}. */
  public final State state() {
    if (head == null) {
      return State.INIT;
    }
    return tail == null ? State.PROCESS : State.BLOCK;
  }

  /** Who works, or null. */
  public final C head() {
    return head;
  }

  /** Who waits, or null. */
  public final C tail() {
    return tail;
  }

  /**
   * Asks for the head's place, else for the tail's. A claim for the work that the tail waits with
   * takes its place: the work has come to another member, or is tried again. So does any claim if
   * the tail may not wait any more.
   *
   * @param nowMillis of the clock that all times of this automaton are from
   */
  public final Answer enQueue(C claim, long nowMillis) {
    switch (state()) {
      case INIT:
        claim.sinceMillis = nowMillis;
        head = claim;
        return Answer.ACCEPT;
      case PROCESS:
        if (claim.same(head)) {
          return Answer.ACCEPT;
        }
        claim.sinceMillis = nowMillis;
        tail = claim;
        return Answer.BLOCK;
      default:
        if (claim.same(head)) {
          return Answer.ACCEPT;
        }
        if (claim.same(tail)) {
          if (claim.waitsUntilMillis() > tail.waitsUntilMillis()) {
            claim.sinceMillis = tail.sinceMillis;
            tail = claim;
          }
          return Answer.BLOCK;
        }
        if (claim.sameWork(tail) || nowMillis >= tail.waitsUntilMillis()) {
          // Turned away for the sake of its own former claim, or of one that has begun and may not
          // see what it brings, it would never be done.
          claim.sinceMillis = nowMillis;
          tail = claim;
          return Answer.BLOCK;
        }
        return Answer.DECLINE;
    }
  }

  /** Gives back the place of {@code claim}, if it has one. */
  public final Departure deQueue(Claim claim, long nowMillis) {
    if (claim.same(head)) {
      boolean waited = tail != null;
      pass(nowMillis);
      return waited ? Departure.PASSED_ON : Departure.FREED;
    }
    if (claim.same(tail)) {
      tail = null;
      return Departure.LEFT_QUEUE;
    }
    return Departure.NOT_HEAD;
  }

  /** Whether the head has been at work for {@code headMillisMax} or longer. */
  public final boolean overdue(long nowMillis, long headMillisMax) {
    return head != null && nowMillis - head.sinceMillis >= headMillisMax;
  }

  /** Takes the head's place from it; the tail is the head then. */
  public final C evict(long nowMillis) {
    C evicted = head;
    pass(nowMillis);
    return evicted;
  }

  /**
   * Takes the places of those whose member is dead.
   *
   * @return how many: 0, 1 or 2
   */
  public final int dropDead(Predicate<String> alive, long nowMillis) {
    int dropped = 0;
    if (tail != null && !alive.test(tail.worker.member())) {
      tail = null;
      dropped++;
    }
    if (head != null && !alive.test(head.worker.member())) {
      pass(nowMillis);
      dropped++;
    }
    return dropped;
  }

  /** Back to INIT, whoever is there. */
  final void clear() {
    head = null;
    tail = null;
  }

  private void pass(long nowMillis) {
    head = tail;
    tail = null;
    if (head != null) {
      head.sinceMillis = nowMillis;
    }
  }
}
