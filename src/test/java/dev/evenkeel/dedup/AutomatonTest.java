package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The table in {@link Automaton}, row by row. A is the head, B the tail, X anybody else. */
class AutomatonTest {
  private static final long THEN = 100;
  private static final long NOW = 200;

  private final Claim a = new Claim(new Worker("a", 0, 0), 1);
  private final Claim b = new Claim(new Worker("b", 0, 0), 1);
  private final Claim x = new Claim(new Worker("x", 0, 0), 1);

  /**
   * @param head after it: a, b, x or -
   * @param tail after it
   * @param answer of the operation, as text
   */
  private record Row(
      State state,
      String operation,
      String who,
      State after,
      String head,
      String tail,
      String answer) {}

  private static final List<Row> TABLE =
      List.of(
          new Row(State.INIT, "enQueue", "x", State.PROCESS, "x", "-", "ACCEPT"),
          new Row(State.INIT, "deQueue", "x", State.INIT, "-", "-", "NOT_HEAD"),
          new Row(State.INIT, "evict", "-", State.INIT, "-", "-", "null"),
          new Row(State.INIT, "dropDead", "a", State.INIT, "-", "-", "0"),
          new Row(State.PROCESS, "enQueue", "a", State.PROCESS, "a", "-", "ACCEPT"),
          new Row(State.PROCESS, "enQueue", "x", State.BLOCK, "a", "x", "BLOCK"),
          new Row(State.PROCESS, "deQueue", "a", State.INIT, "-", "-", "FREED"),
          new Row(State.PROCESS, "deQueue", "x", State.PROCESS, "a", "-", "NOT_HEAD"),
          new Row(State.PROCESS, "evict", "-", State.INIT, "-", "-", "a"),
          new Row(State.PROCESS, "dropDead", "a", State.INIT, "-", "-", "1"),
          new Row(State.PROCESS, "dropDead", "x", State.PROCESS, "a", "-", "0"),
          new Row(State.BLOCK, "enQueue", "a", State.BLOCK, "a", "b", "ACCEPT"),
          new Row(State.BLOCK, "enQueue", "b", State.BLOCK, "a", "b", "BLOCK"),
          new Row(State.BLOCK, "enQueue", "x", State.BLOCK, "a", "b", "DECLINE"),
          new Row(State.BLOCK, "deQueue", "a", State.PROCESS, "b", "-", "PASSED_ON"),
          new Row(State.BLOCK, "deQueue", "b", State.PROCESS, "a", "-", "LEFT_QUEUE"),
          new Row(State.BLOCK, "deQueue", "x", State.BLOCK, "a", "b", "NOT_HEAD"),
          new Row(State.BLOCK, "evict", "-", State.PROCESS, "b", "-", "a"),
          new Row(State.BLOCK, "dropDead", "a", State.PROCESS, "b", "-", "1"),
          new Row(State.BLOCK, "dropDead", "b", State.PROCESS, "a", "-", "1"),
          new Row(State.BLOCK, "dropDead", "ab", State.INIT, "-", "-", "2"),
          new Row(State.BLOCK, "dropDead", "x", State.BLOCK, "a", "b", "0"));

  @TestFactory
  Stream<DynamicTest> everyStateAndOperation() {
    return TABLE.stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.state + " " + row.operation + " " + row.who, () -> check(row)));
  }

  private void check(Row row) {
    Automaton<Claim> automaton = in(row.state);
    Claim tailBefore = automaton.tail();
    String answer =
        switch (row.operation) {
          // A request that is repeated is another object.
          case "enQueue" -> automaton.enQueue(copy(claim(row.who)), NOW).name();
          case "deQueue" -> automaton.deQueue(copy(claim(row.who)), NOW).name();
          case "evict" -> name(automaton.evict(NOW), "null");
          default -> "" + automaton.dropDead(member -> !row.who.contains(member), NOW);
        };
    assertThat(answer).isEqualTo(row.answer);
    assertThat(automaton.state()).isEqualTo(row.after);
    assertThat(name(automaton.head(), "-")).isEqualTo(row.head);
    assertThat(name(automaton.tail(), "-")).isEqualTo(row.tail);
    if (automaton.head() != null) {
      boolean became = automaton.head() == tailBefore || row.state == State.INIT;
      assertThat(automaton.head().sinceMillis).isEqualTo(became ? NOW : THEN);
    }
  }

  private Automaton<Claim> in(State state) {
    Automaton<Claim> automaton = new Automaton<>();
    if (state != State.INIT) {
      automaton.enQueue(a, THEN);
    }
    if (state == State.BLOCK) {
      automaton.enQueue(b, THEN);
    }
    assertThat(automaton.state()).isEqualTo(state);
    return automaton;
  }

  private Claim claim(String who) {
    return who.equals("a") ? a : who.equals("b") ? b : x;
  }

  private static Claim copy(Claim claim) {
    return new Claim(new Worker(claim.worker().member(), 7, 0), claim.token());
  }

  private static String name(Claim claim, String none) {
    return claim == null ? none : claim.worker().member();
  }

  @Test
  void anEvictedHeadThatComesBackDoesNotPushOutItsSuccessor() {
    Automaton<Claim> automaton = in(State.BLOCK);
    assertThat(automaton.overdue(THEN + 49, 50)).isFalse();
    assertThat(automaton.overdue(THEN + 50, 50)).isTrue();
    assertThat(automaton.evict(NOW)).isSameAs(a);
    assertThat(automaton.deQueue(a, NOW)).isEqualTo(Departure.NOT_HEAD);
    assertThat(automaton.head()).isSameAs(b);
    assertThat(automaton.deQueue(b, NOW)).isEqualTo(Departure.FREED);
    assertThat(automaton.deQueue(b, NOW)).isEqualTo(Departure.NOT_HEAD);
  }

  @Test
  void nobodyIsDeclinedForTheSakeOfOneThatMayNotWaitAnyMore() {
    Automaton<SharedClaim> automaton = new Automaton<>();
    automaton.enQueue(shared("a", 1, 0), THEN);
    automaton.enQueue(shared("b", 1, NOW), THEN);
    assertThat(automaton.enQueue(shared("x", 1, NOW + 50), NOW - 1)).isEqualTo(Answer.DECLINE);
    assertThat(automaton.enQueue(shared("b", 1, NOW + 9), NOW - 1))
        .as("who asks again waits longer")
        .isEqualTo(Answer.BLOCK);
    assertThat(automaton.enQueue(shared("b", 1, NOW), NOW - 1))
        .as("an older request that comes late takes nothing back")
        .isEqualTo(Answer.BLOCK);
    assertThat(automaton.enQueue(shared("x", 2, NOW + 50), NOW + 8)).isEqualTo(Answer.DECLINE);
    assertThat(automaton.enQueue(shared("x", 3, NOW + 50), NOW + 9)).isEqualTo(Answer.BLOCK);
    assertThat(automaton.tail().worker().member()).isEqualTo("x");
    assertThat(automaton.enQueue(shared("b", 1, NOW + 60), NOW + 10))
        .as("the former waiter may wait for that one")
        .isEqualTo(Answer.DECLINE);
  }

  private static SharedClaim shared(String member, long token, long waitsUntil) {
    return new SharedClaim(new Worker(member, 0, 0), token, 1_000, waitsUntil);
  }

  @Test
  void aLaterRequestOfTheSameLaneIsAnotherOne() {
    Automaton<Claim> automaton = in(State.PROCESS);
    Claim later = new Claim(a.worker(), 2);
    assertThat(automaton.enQueue(later, NOW)).isEqualTo(Answer.BLOCK);
    assertThat(automaton.deQueue(a, NOW)).isEqualTo(Departure.PASSED_ON);
    assertThat(automaton.deQueue(a, NOW)).isEqualTo(Departure.NOT_HEAD);
    assertThat(automaton.head()).isSameAs(later);
  }

  @Test
  void whoComesWithTheWorkThatWaitsTakesItsPlace() {
    Claim head = new Claim(new Worker("a", 0, 7), 1);
    Claim waiter = new Claim(new Worker("a", 0, 8), 2);
    Automaton<Claim> automaton = new Automaton<>();
    automaton.enQueue(head, NOW);
    automaton.enQueue(waiter, NOW);
    // Its member is dead, say, and not swept yet: declined for its own sake it would be lost.
    Claim again = new Claim(new Worker("b", 0, 8), 1);
    assertThat(automaton.enQueue(again, NOW)).isEqualTo(Answer.BLOCK);
    assertThat(automaton.tail()).isSameAs(again);
    assertThat(automaton.deQueue(waiter, NOW)).isEqualTo(Departure.NOT_HEAD);
    // The work of the head may still be under way.
    assertThat(automaton.enQueue(new Claim(new Worker("b", 0, 7), 2), NOW))
        .isEqualTo(Answer.DECLINE);
    // Work without a number is like no other.
    Automaton<Claim> plain = new Automaton<>();
    plain.enQueue(a, NOW);
    plain.enQueue(b, NOW);
    assertThat(plain.enQueue(x, NOW)).isEqualTo(Answer.DECLINE);
  }
}
