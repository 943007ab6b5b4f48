package dev.evenkeel.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A sound history passes; and each promise that a history breaks is found, and no other. */
class CheckerTest {
  private static final long MILLI = 1_000_000L;

  /** Sequences of keys a and b in shard 0, and of c in shard 1, by offset. */
  private static final List<List<String>> SHARDS =
      List.of(List.of("a 0", "b 0", "a 1", "b 1", "a 2"), List.of("c 0", "c 1"));

  /** Events of a history by the names that tests change them by. */
  private final List<Event> events = new ArrayList<>();

  private final List<List<String>> shards = new ArrayList<>();
  private final List<Event.Lease> leases = new ArrayList<>();
  private long termInTheEnd = 1;

  CheckerTest() {
    SHARDS.forEach(shard -> shards.add(new ArrayList<>(shard)));
    long now = 0;
    for (int shard = 0; shard < SHARDS.size(); shard++) {
      for (int offset = 0; offset < SHARDS.get(shard).size(); offset++) {
        String[] words = SHARDS.get(shard).get(offset).split(" ");
        int sequence = Integer.parseInt(words[1]);
        events.add(new Event.Sent(now++, words[0], sequence));
        events.add(new Event.Acked(now++, words[0], sequence, shard, offset));
      }
    }
    events.add(new Event.Joins(now, "x.1"));
    events.add(new Event.Inaugurated(now, ChaosClient.SINGLETON, "x.1", 1));
    for (String group : ChaosClient.GROUPS) {
      for (int shard = 0; shard < SHARDS.size(); shard++) {
        for (int offset = 0; offset < SHARDS.get(shard).size(); offset++) {
          handled(1_000 + 10 * offset, group, "x.1", shard, offset, 1);
        }
        leases.add(new Event.Lease(9_000 * MILLI, group, shard, 1, "x", SHARDS.get(shard).size()));
      }
    }
  }

  private void began(long millis, String group, String member, int shard, long offset, long epoch) {
    Event.Place place = new Event.Place(group, member, shard, offset, epoch);
    events.add(new Event.Began(millis * MILLI, place, 1));
  }

  private void handled(
      long millis, String group, String member, int shard, long offset, long epoch) {
    began(millis, group, member, shard, offset, epoch);
    Event.Place place = new Event.Place(group, member, shard, offset, epoch);
    events.add(new Event.Ended((millis + 5) * MILLI, place, true));
  }

  private void lease(long millis, int shard, long epoch, String owner, long committed) {
    events.add(
        new Event.Lease(millis * MILLI, ChaosClient.SHARDED, shard, epoch, owner, committed));
  }

  private void finallyAt(int shard, long epoch) {
    leases.replaceAll(
        lease ->
            lease.group().equals(ChaosClient.SHARDED) && lease.shard() == shard
                ? new Event.Lease(lease.nanos(), lease.group(), shard, epoch, "x", 5)
                : lease);
  }

  /** What was found, by the promise. */
  private Map<String, Integer> judged() {
    Violations violations = new Violations();
    MessageLog log = new MessageLog(shards.size(), violations);
    for (int shard = 0; shard < shards.size(); shard++) {
      for (String message : shards.get(shard)) {
        String[] words = message.split(" ");
        log.add(shard, words[0], Integer.parseInt(words[1]));
      }
    }
    Checker checker = new Checker(log, ChaosClient.GROUPS, violations);
    // As they are read from lines.
    events.stream()
        .map(event -> Event.parse(event.line()))
        .sorted(Comparator.comparingLong(Event::nanos))
        .forEach(checker::take);
    checker.end(leases, Map.of(ChaosClient.SINGLETON, termInTheEnd));
    return violations.counts();
  }

  private void assertFound(String... promises) {
    assertThat(judged()).containsOnlyKeys(promises);
  }

  private void remove(Class<?> kind, int shard, int offset, String group) {
    events.removeIf(
        event ->
            kind.isInstance(event)
                && place(event) != null
                && place(event).equals(group + shard + "/" + offset));
  }

  private static String place(Event event) {
    Event.Place place =
        event instanceof Event.Began began
            ? began.place()
            : event instanceof Event.Ended ended ? ended.place() : null;
    return place == null ? null : place.group() + place.shard() + "/" + place.offset();
  }

  @Test
  void aSoundHistoryPasses() {
    assertThat(judged()).isEmpty();
  }

  @Test
  void whatANewOwnerGetsAgainIsNoViolation() {
    lease(1_100, 0, 1, "x", 2);
    handled(2_000, ChaosClient.SHARDED, "y.1", 0, 2, 2);
    handled(2_010, ChaosClient.SHARDED, "y.1", 0, 3, 2);
    handled(2_020, ChaosClient.SHARDED, "y.1", 0, 4, 2);
    finallyAt(0, 2);
    assertThat(judged()).isEmpty();
  }

  @Test
  void anUnknownOutcomeMayBeInTheLogOrNot() {
    events.add(new Event.Sent(50, "a", 3));
    events.add(new Event.Unknown(60, "a", 3));
    events.add(new Event.Sent(70, "d", 0));
    events.add(new Event.Unknown(80, "d", 0));
    shards.get(0).add("a 3");
    ChaosClient.GROUPS.forEach(group -> handled(1_100, group, "x.1", 0, 5, 1));
    assertThat(judged()).isEmpty();
  }

  @Test
  void acknowledgedAndNotInTheLog() {
    events.add(new Event.Sent(50, "a", 3));
    events.add(new Event.Acked(60, "a", 3, 0, 5));
    assertFound("acknowledged loss: not in the log");
  }

  @Test
  void acknowledgedAtAnotherPlace() {
    events.replaceAll(
        event ->
            event instanceof Event.Acked acked && acked.key().equals("c")
                ? new Event.Acked(acked.nanos(), "c", acked.sequence(), 1, 1 - acked.offset())
                : event);
    assertFound("acknowledged loss: not in the log");
  }

  @Test
  void acknowledgedWithoutAPlaceAndNotInTheLog() {
    events.add(new Event.Sent(50, "a", 3));
    events.add(new Event.Acked(60, "a", 3, 0, -1));
    assertFound("acknowledged loss: not in the log");
  }

  @Test
  void neverHandledInOneGroup() {
    remove(Event.Began.class, 1, 1, ChaosClient.LEVEL);
    remove(Event.Ended.class, 1, 1, ChaosClient.LEVEL);
    assertFound("loss: never handled in group " + ChaosClient.LEVEL);
  }

  @Test
  void begunAndNeverEnded() {
    remove(Event.Ended.class, 1, 1, ChaosClient.SHARDED);
    assertFound("loss: never handled in group " + ChaosClient.SHARDED);
  }

  @Test
  void twiceInTheLog() {
    shards.get(1).add("c 1");
    ChaosClient.GROUPS.forEach(group -> handled(1_100, group, "x.1", 1, 2, 1));
    assertFound("log: doubled");
  }

  @Test
  void inTheLogAndNeverSent() {
    shards.get(1).add("c 2");
    ChaosClient.GROUPS.forEach(group -> handled(1_100, group, "x.1", 1, 2, 1));
    assertFound("log: never sent");
  }

  @Test
  void outOfOrderInTheLog() {
    events.removeIf(event -> event instanceof Event.Acked acked && acked.key().equals("c"));
    shards.set(1, List.of("c 1", "c 0"));
    assertFound("log: order of a key");
  }

  @Test
  void aKeyInTwoShards() {
    events.add(new Event.Sent(50, "a", 3));
    shards.get(1).add("a 3");
    ChaosClient.GROUPS.forEach(group -> handled(1_100, group, "x.1", 1, 2, 1));
    assertFound("log: key in two shards");
  }

  @Test
  void handledAndNotInTheLog() {
    began(1_100, ChaosClient.SHARDED, "x.1", 1, 2, 1);
    assertFound("handled what the log does not have");
  }

  @Test
  void begunAgainUnderTheEpochThatEndedIt() {
    handled(1_100, ChaosClient.SHARDED, "x.1", 0, 4, 1);
    assertFound("doubled under one epoch");
  }

  @Test
  void begunAgainAfterItsCommit() {
    lease(1_500, 0, 1, "x", 3);
    handled(2_000, ChaosClient.SHARDED, "y.1", 0, 2, 2);
    finallyAt(0, 2);
    assertFound("handled again after its commit");
  }

  @Test
  void whatFailedMayWaitWhileOthersAreCommitted() {
    remove(Event.Ended.class, 0, 2, ChaosClient.SHARDED);
    remove(Event.Began.class, 0, 4, ChaosClient.SHARDED);
    remove(Event.Ended.class, 0, 4, ChaosClient.SHARDED);
    Event.Place failed = new Event.Place(ChaosClient.SHARDED, "x.1", 0, 2, 1);
    events.add(new Event.Ended(1_025 * MILLI, failed, false));
    lease(1_500, 0, 1, "x", 5);
    handled(2_000, ChaosClient.SHARDED, "y.1", 0, 2, 2);
    handled(2_010, ChaosClient.SHARDED, "y.1", 0, 4, 2);
    finallyAt(0, 2);
    assertThat(judged()).isEmpty();
  }

  @Test
  void aKeyThatOvertakesItself() {
    remove(Event.Began.class, 0, 2, ChaosClient.SHARDED);
    remove(Event.Ended.class, 0, 2, ChaosClient.SHARDED);
    handled(1_038, ChaosClient.SHARDED, "x.1", 0, 2, 1);
    assertFound("order by key");
  }

  @Test
  void aShardThatOvertakesItself() {
    remove(Event.Began.class, 0, 2, ChaosClient.SINGLETON);
    remove(Event.Ended.class, 0, 2, ChaosClient.SINGLETON);
    handled(1_034, ChaosClient.SINGLETON, "x.1", 0, 2, 1);
    assertFound("order by shard");
  }

  @Test
  void twoMembersOfOneEpoch() {
    handled(1_100, ChaosClient.SHARDED, "y.1", 1, 1, 1);
    assertFound("doubled under one epoch", "two owners of one epoch");
  }

  @Test
  void twoOwnersToldOfOneEpoch() {
    lease(1_500, 0, 1, "x", 3);
    lease(1_600, 0, 1, "y", 3);
    assertFound("two owners of one epoch");
  }

  @Test
  void aFormerOwnerThatGoesOn() {
    handled(2_000, ChaosClient.SHARDED, "y.1", 0, 0, 2);
    began(2_900, ChaosClient.SHARDED, "x.1", 0, 4, 1);
    finallyAt(0, 2);
    remove(Event.Ended.class, 0, 4, ChaosClient.SHARDED);
    handled(2_010, ChaosClient.SHARDED, "y.1", 0, 4, 2);
    assertThat(judged()).as("within the grace").isEmpty();
    began(3_001, ChaosClient.SHARDED, "x.1", 0, 4, 1);
    assertFound("two owners at once");
  }

  @Test
  void aFormerOwnerThatGoesOnAfterAnotherWasTold() {
    remove(Event.Began.class, 0, 4, ChaosClient.SHARDED);
    remove(Event.Ended.class, 0, 4, ChaosClient.SHARDED);
    lease(1_500, 0, 2, "y", 0);
    finallyAt(0, 2);
    handled(2_600, ChaosClient.SHARDED, "x.1", 0, 4, 1);
    assertFound("two owners at once");
  }

  @Test
  void anEpochOrACommitThatGoesBack() {
    lease(1_500, 0, 7, "y", 5);
    assertFound("an epoch went back");
    finallyAt(0, 7);
    assertThat(judged()).isEmpty();
    leases.replaceAll(
        lease ->
            new Event.Lease(
                lease.nanos(), lease.group(), lease.shard(), 7, "x", lease.shard() == 0 ? 4 : 2));
    assertFound("a commit went back");
  }

  @Test
  void aTermThatGoesBackOrHasTwoLeaders() {
    Consumer<Long> inaugurate =
        term ->
            events.add(new Event.Inaugurated(3_000 * MILLI, ChaosClient.SINGLETON, "y.1", term));
    inaugurate.accept(1L);
    assertFound("two leaders of one term");
    events.remove(events.size() - 1);
    inaugurate.accept(5L);
    termInTheEnd = 5;
    assertThat(judged()).isEmpty();
    events.add(new Event.Inaugurated(4_500 * MILLI, ChaosClient.SINGLETON, "x.1", 2));
    assertFound("a term went back");
    events.remove(events.size() - 1);
    termInTheEnd = 4;
    assertFound("a term went back");
  }

  /** Many messages, which the other groups have handled. */
  private void levelMessages() {
    shards.set(1, Stream.iterate(0, i -> i + 1).limit(500).map(i -> "c " + i).toList());
    for (int i = 2; i < 500; i++) {
      events.add(new Event.Sent(60 + i, "c", i));
      handled(2_000 + 10L * i, ChaosClient.SHARDED, "x.1", 1, i, 1);
      handled(2_000 + 10L * i, ChaosClient.SINGLETON, "x.1", 1, i, 1);
    }
  }

  /** Two members, one of which ends so many more than the other. */
  private void levelRun(int more, long pauseMillis) {
    levelMessages();
    events.add(new Event.Joins(1_099 * MILLI, "y.1"));
    for (int i = 2; i < 102; i++) {
      handled(1_100 + i, ChaosClient.LEVEL, i % 2 == 0 ? "x.1" : "y.1", 1, i, 1);
    }
    for (int i = 102; i < 102 + more; i++) {
      handled(2_000 + i, ChaosClient.LEVEL, "x.1", 1, i, 1);
    }
    for (int i = 102 + more; i < 500; i++) {
      handled(2_500 + pauseMillis + i, ChaosClient.LEVEL, i % 2 == 0 ? "x.1" : "y.1", 1, i, 1);
    }
  }

  @Test
  void levelWithinItsRange() {
    levelRun(ChaosClient.RANGE - 10, 0);
    assertThat(judged()).isEmpty();
  }

  @Test
  void levelPastItsRange() {
    levelRun(ChaosClient.RANGE + 10, 0);
    assertFound("level range");
  }

  @Test
  void levelFromWhereAMemberJoinedOn() {
    levelMessages();
    events.add(new Event.Joins(1_500 * MILLI, "y.1"));
    for (int i = 2; i < 500; i++) {
      boolean late = i > 102 && i < 104 + ChaosClient.RANGE;
      boolean alternates = i >= 104 + ChaosClient.RANGE && i % 2 == 0;
      handled(1_450 + i, ChaosClient.LEVEL, late || alternates ? "y.1" : "x.1", 1, i, 1);
    }
    assertThat(judged()).as("x ended one between that and the first of y").isEmpty();
  }

  @Test
  void aMemberThatWasSilentMayHaveBeenTakenForLost() {
    levelRun(ChaosClient.RANGE + 10, Checker.SILENT_NANOS / MILLI);
    assertThat(judged()).isEmpty();
  }

  @Test
  void aMemberThatWasSilentMayHaveStayed() {
    int ahead = ChaosClient.RANGE - 5;
    int silentFrom = 102 + ahead;
    int back = silentFrom + 3 * ChaosClient.RANGE;
    levelMessages();
    events.add(new Event.Joins(1_099 * MILLI, "y.1"));
    for (int i = 2; i < 500; i++) {
      boolean ofX = i >= 102 && i < silentFrom;
      boolean ofY = i >= back && i < back + 2 * ahead;
      long pauseMillis = i < silentFrom ? 0 : Checker.SILENT_NANOS / MILLI;
      String member = ofX || !ofY && i % 2 == 0 ? "x.1" : "y.1";
      handled(1_100 + pauseMillis + i, ChaosClient.LEVEL, member, 1, i, 1);
    }
    assertThat(judged()).as("they are apart by the range from where they began").isEmpty();
  }

  @Test
  void aMemberThatLostItsConnectionCameBack() {
    levelRun(ChaosClient.RANGE + 10, 0);
    events.add(new Event.Loses(2_000 * MILLI, "y.1"));
    assertThat(judged()).isEmpty();
  }
}
