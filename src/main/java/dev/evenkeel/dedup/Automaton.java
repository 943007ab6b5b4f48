package dev.evenkeel.dedup;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The automaton of one key: the head works, the tail waits, and all other claims are declined.
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
 * <p>A claim says until when it surely waits, and asks again before that time. After it the tail
 * may have begun without being the head, or may have ended, so the automaton declines nobody in
 * favour of it any more.
 *
 * <p>Every operation may be repeated: a claim with a place keeps it, and a claim without one
 * changes nothing when it leaves. So a head that was evicted and leaves late cannot push out its
 * successor.
 *
 * <p>The states come from the articles on queues for repeated requests, as does the rule that one
 * claim waits because it must see what changed since the head began. Tokens, eviction and leaving
 * the queue are additions. Not safe for use from several threads.
 *
 * @param <C> type of claims, with what a coordinator keeps for each
 */
public class Automaton<C extends Claim> {
  private @Nullable C head;
  private @Nullable C tail;

  public Automaton() {}

  /** An automaton as it was stored. */
  Automaton(@Nullable C head, @Nullable C tail) {
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

  /** The claim that works. */
  public final @Nullable C head() {
    return head;
  }

  /** The claim that waits. */
  public final @Nullable C tail() {
    return tail;
  }

  /**
   * Asks for the place of the head, or else of the tail. A claim takes the place of the tail if it
   * is for the same work, which has come to another member or is tried again, or if the tail may
   * not wait any more.
   *
   * @param nowMillis time of the clock that this automaton uses for all times
   */
  public final Answer enQueue(C claim, long nowMillis) {
    if (head == null) {
      claim.sinceMillis = nowMillis;
      head = claim;
      return Answer.ACCEPT;
    }
    if (claim.same(head)) {
      return Answer.ACCEPT;
    }
    if (tail == null) {
      claim.sinceMillis = nowMillis;
      tail = claim;
      return Answer.BLOCK;
    }
    if (claim.same(tail)) {
      if (claim.waitsUntilMillis() > tail.waitsUntilMillis()) {
        claim.sinceMillis = tail.sinceMillis;
        tail = claim;
      }
      return Answer.BLOCK;
    }
    if (claim.sameWork(tail) || nowMillis >= tail.waitsUntilMillis()) {
      // Declined in favour of its own former claim, or of one that has begun and may not see its
      // change, the work would never be done.
      claim.sinceMillis = nowMillis;
      tail = claim;
      return Answer.BLOCK;
    }
    return Answer.DECLINE;
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

  /** Whether the head has worked for {@code headMillisMax} or longer. */
  public final boolean overdue(long nowMillis, long headMillisMax) {
    return head != null && nowMillis - head.sinceMillis >= headMillisMax;
  }

  /** Removes the head; the tail becomes the head. */
  public final @Nullable C evict(long nowMillis) {
    C evicted = head;
    pass(nowMillis);
    return evicted;
  }

  /**
   * Removes the claims of dead members.
   *
   * @return how many: 0, 1 or 2
   */
  public final int dropDead(Predicate<String> alive, long nowMillis) {
    return drop(claim -> !alive.test(claim.worker.member()), nowMillis);
  }

  /** As {@link #dropDead}, for claims that are dead. */
  final int drop(Predicate<? super C> dead, long nowMillis) {
    int dropped = 0;
    if (tail != null && dead.test(tail)) {
      tail = null;
      dropped++;
    }
    if (head != null && dead.test(head)) {
      pass(nowMillis);
      dropped++;
    }
    return dropped;
  }

  /** Removes all claims: the state is INIT again. */
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
