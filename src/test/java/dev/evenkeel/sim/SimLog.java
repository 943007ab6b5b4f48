package dev.evenkeel.sim;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.HeapBodies;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * The log of a group, with a replica on each node: a model of what Raft guarantees, and not Raft.
 *
 * <pre>
 * leading    entries are appended at the leader, sent to the others late, or again after a loss, and
 *            committed once a majority has them; an entry of a former term with the first of its own
 * deposed    the leader may lose its connection; what it still appends is committed or not, and
 *            nobody is told
 * elected    of any majority the one with the longest log of the highest term; others drop what
 *            contradicts it
 * restarted  from what was on disk, and entries that it has applied come again
 * behind     of what the leader has no more in its log: it installs the leader's snapshot
 * moved      a new copy installs the leader's snapshot, gets what was committed meanwhile, and then
 *            votes in the place of an old one, which goes
 * </pre>
 *
 * What is applied is checked: one entry at each index on all replicas, and the same state after it.
 */
final class SimLog {
  private static final int RETRY_MILLIS = 100;

  /** So much later the others hear that an entry is committed, if no other entry tells them. */
  private static final int TELL_MILLIS = 200;

  private static final int COMPARE_MILLIS = 4_000;
  private static final int COMPARE_FLYING_MILLIS = 3_600_000;

  /** Makes an empty copy on a node. */
  private interface Copies {
    Replica make(int number, int node);
  }

  /** Who has an entry appended. */
  interface Writer {
    /** It is about to be applied, for the first time. */
    default void before(DataState state) {}

    /** It was applied, for the first time. */
    void applied(DataState state, ByteBuffer reply);

    /** Its leader leads no more: it may be applied at any time, or never. */
    default void unknown() {}
  }

  /**
   * An entry.
   *
   * @param bytes null: the first of a term, which says nothing
   * @param body that the log keeps apart from a command; null: there is none
   */
  record Logged(long term, byte[] bytes, ByteBuffer body, Writer writer) {}

  private final Timeline time;
  private final SplittableRandom random;
  private final DataGroup.Surroundings around;
  private final List<Replica> replicas = new ArrayList<>();

  /** What was applied anywhere. */
  private final List<Logged> history = new ArrayList<>();

  /** Up to where the leader knows each one's log to be its own. */
  private final int[] match;

  private final boolean[] sending;
  private final Runnable elected;
  private final Copies copies;
  private Replica leader;

  /** A new copy is on its way. */
  private boolean moving;

  private long term = 1;
  private boolean led = true;
  private boolean electing;

  /** Nothing gets to it or from it; null: nobody. */
  private Replica cutOff;

  private final Bug bug;
  private int made;

  /**
   * @param opened hears of each state that takes the place of another
   * @param elected called when another leads, and has applied all that was committed
   */
  SimLog(
      Timeline time,
      SplittableRandom random,
      DataGroup.Surroundings around,
      Bug bug,
      String name,
      Consumer<Replica> opened,
      Runnable elected) {
    this.time = time;
    this.random = random;
    this.around = around;
    this.elected = elected;
    match = new int[SimNodes.COUNT];
    sending = new boolean[SimNodes.COUNT];
    Path directory = directory().resolve(name);
    Map<Integer, Long> digests = new HashMap<>();
    HeapBodies bodies = new HeapBodies();
    copies =
        (number, node) ->
            new Replica(
                number,
                around.nodes().get(node),
                bodies,
                directory.resolve("r" + number + "-" + made++),
                opened,
                bug,
                digests,
                around.retriesMax());
    this.bug = bug;
    times(SimNodes.COUNT, i -> replicas.add(copies.make(i, i)));
    leader = replicas.get(random.nextInt(SimNodes.COUNT));
    time.in(COMPARE_MILLIS, null, null, this::compareAgain);
  }

  /** Of this thread of this process alone. */
  private static Path directory() {
    String own = ProcessHandle.current().pid() + "-" + Thread.currentThread().getId();
    return Path.of("target", "sim", own);
  }

  /** Whether somebody leads, and has applied everything that was acknowledged. */
  boolean led() {
    return led;
  }

  int term() {
    return (int) term;
  }

  /** Who leads, or led last. */
  Replica leader() {
    return leader;
  }

  /** Somebody who may be behind. */
  Replica any() {
    return replicas.get(random.nextInt(SimNodes.COUNT));
  }

  /** The one that has applied most: all that anybody may have been told. */
  Replica newest() {
    Replica newest = leader;
    for (Replica each : replicas) {
      newest = each.applied() > newest.applied() ? each : newest;
    }
    return newest;
  }

  // ---- Entries

  /** Everywhere, at once: for the beginning. */
  void begin(byte[] bytes) {
    Logged entry = new Logged(term, bytes, null, null);
    history.add(entry);
    for (Replica each : replicas) {
      each.log.add(entry);
      each.committed = each.last();
      each.applyNext();
      match[each.number] = each.last();
    }
  }

  /** At the leader, or at the one that was it. */
  void append(byte[] bytes, ByteBuffer body, Writer writer) {
    leader.log.add(new Logged(term, bytes, body, writer));
    if (!led) {
      writer.unknown();
    }
    sendAll();
  }

  private void sendAll() {
    for (Replica each : replicas) {
      if (each != leader && !sending[each.number]) {
        send(each);
      }
    }
  }

  private boolean lost(Replica to) {
    return to.down
        || leader.down
        || cutOff == to
        || cutOff == leader
        || around.faulty() && random.nextInt(20) == 0;
  }

  private long latency() {
    boolean late = around.faulty() && random.nextInt(30) == 0;
    return late ? random.nextInt(1_500) : 1 + random.nextInt(3);
  }

  private void send(Replica to) {
    long sentTerm = term;
    int upTo = leader.last();
    int committed = leader.committed;
    sending[to.number] = true;
    if (lost(to)) {
      time.in(RETRY_MILLIS, null, null, () -> again(to, sentTerm));
      return;
    }
    time.in(
        latency(),
        null,
        null,
        () -> {
          if (term == sentTerm && votes(to) && !lost(to)) {
            receive(to, upTo, Math.min(committed, upTo));
            time.in(latency(), null, null, () -> acknowledged(to, upTo, sentTerm));
          } else {
            time.in(RETRY_MILLIS, null, null, () -> again(to, sentTerm));
          }
        });
  }

  private void again(Replica to, long sentTerm) {
    if (term == sentTerm && votes(to)) {
      send(to);
    }
  }

  private void receive(Replica to, int upTo, int committed) {
    int same = Math.min(to.committed, upTo) + 1;
    while (same <= Math.min(upTo, to.last()) && to.log.get(same) == leader.log.get(same)) {
      same++;
    }
    if (same <= upTo && same < leader.firstIndex) {
      time.note(() -> to + " installs the snapshot of " + leader);
      to.install(leader);
      same = leader.firstIndex;
    }
    if (same <= upTo) {
      if (same <= to.committed) {
        throw new SimulationFailure("what was committed is dropped: " + same + " of " + to);
      }
      to.log.subList(same, to.log.size()).clear();
      to.log.addAll(leader.log.subList(same, upTo + 1));
    }
    to.committed = Math.max(to.committed, committed);
    applyAll(to);
  }

  private void acknowledged(Replica from, int upTo, long sentTerm) {
    if (term != sentTerm || !votes(from)) {
      return;
    }
    match[from.number] = Math.max(match[from.number], upTo);
    commit();
    if (upTo < leader.last()) {
      send(from);
    } else if (from.committed < leader.committed) {
      time.in(TELL_MILLIS, null, null, () -> again(from, sentTerm));
    } else {
      sending[from.number] = false;
    }
  }

  private void commit() {
    match[leader.number] = leader.last();
    int[] sorted = match.clone();
    Arrays.sort(sorted);
    int majority = sorted[(sorted.length - 1) / 2];
    if (majority > leader.committed && leader.log.get(majority).term() == term) {
      leader.committed = majority;
      applyAll(leader);
      sendAll();
    }
  }

  private void applyAll(Replica replica) {
    while (replica.applied() < replica.committed) {
      int index = replica.applied() + 1;
      Logged entry = replica.log.get(index);
      boolean first = index == history.size();
      if (first) {
        history.add(entry);
      } else if (history.get(index) != entry) {
        throw new SimulationFailure("another entry at index " + index + " of " + replica);
      }
      if (first && entry.writer() != null) {
        entry.writer().before(replica.state());
      }
      ByteBuffer reply = replica.applyNext();
      if (first && entry.writer() != null) {
        entry.writer().applied(replica.state(), reply);
      }
    }
    boolean all = replica == leader && replica.log.get(replica.committed).term() == term;
    if (all && !led && !electing) {
      led = true;
      elected.run();
    }
  }

  // ---- Leaders

  /** Another is elected, which takes a while. What is not committed by now may be lost. */
  void changeLeader() {
    if (electing) {
      return;
    }
    electing = true;
    led = false;
    for (Logged each : leader.log.subList(leader.committed + 1, leader.log.size())) {
      if (each.writer() != null) {
        each.writer().unknown();
      }
    }
    if (cutOff == null && replicas.stream().noneMatch(each -> each.down) && random.nextBoolean()) {
      cutOff = leader;
    }
    int millis = 100 + random.nextInt(1_500);
    time.note(() -> "a data group has no leader for " + millis + " ms");
    time.in(millis, null, null, this::elect);
  }

  private void elect() {
    List<Replica> voters = new ArrayList<>(replicas);
    voters.removeIf(each -> each.down || each == cutOff);
    if (voters.size() < 2) {
      cutOff = null;
      time.in(RETRY_MILLIS, null, null, this::elect);
      return;
    }
    while (voters.size() > 2) {
      voters.remove(random.nextInt(voters.size()));
    }
    Replica one = voters.get(0);
    Replica other = voters.get(1);
    boolean behind =
        one.lastTerm() != other.lastTerm()
            ? one.lastTerm() < other.lastTerm()
            : one.last() < other.last();
    leader = behind ? other : one;
    term++;
    electing = false;
    Arrays.fill(match, -1);
    Arrays.fill(sending, false);
    leader.log.add(new Logged(term, null, null, null));
    time.note(() -> leader + " is elected for term " + term);
    sendAll();
    Replica deposed = cutOff;
    if (deposed != null) {
      time.in(random.nextInt(3_000), null, null, () -> cutOff = cutOff == deposed ? null : cutOff);
    }
  }

  // ---- Faults of one replica

  /** One of them ends and begins again; perhaps it is the leader. */
  void restartAny() {
    restart(any());
  }

  /** The one on that node ends and begins again. */
  void restartOn(SimNode node) {
    replicas.stream().filter(each -> each.node == node).findFirst().ifPresent(this::restart);
  }

  private void restart(Replica replica) {
    if (electing || cutOff != null || replicas.stream().anyMatch(each -> each.down)) {
      return;
    }
    time.note(() -> replica + " goes down");
    replica.down = true;
    if (replica == leader) {
      changeLeader();
    }
    time.in(random.nextInt(4_000), null, null, () -> up(replica));
  }

  private void up(Replica replica) {
    if (replica != leader && random.nextInt(5) == 0 && leader.applied() >= leader.firstIndex) {
      leader.compact();
    }
    replica.restart(random.nextInt(50));
    replica.down = false;
    time.note(() -> replica + " is up again");
  }

  // ---- Moves

  private boolean votes(Replica replica) {
    return replicas.get(replica.number) == replica;
  }

  private boolean mayMove(Replica old) {
    return led
        && !electing
        && cutOff == null
        && votes(old)
        && old != leader
        && replicas.stream().noneMatch(each -> each.down)
        && leader.applied() >= leader.firstIndex;
  }

  /** One of the copies moves to another node. */
  void moveAny() {
    Replica old = any();
    if (moving || !mayMove(old)) {
      return;
    }
    moving = true;
    Replica copy = copies.make(old.number, random.nextInt(SimNodes.COUNT));
    leader.compact();
    copy.install(leader);
    time.note(() -> old + " is to move, " + copy + " has a snapshot of " + leader);
    time.in(random.nextInt(3_000), null, null, () -> takesThePlaceOf(old, copy));
  }

  private void takesThePlaceOf(Replica old, Replica copy) {
    moving = false;
    if (!mayMove(old) || copy.last() + 1 < leader.firstIndex) {
      copy.end();
      return;
    }
    copy.log.addAll(leader.log.subList(copy.last() + 1, leader.committed + 1));
    if (bug.newCopyMissesEntries()) {
      copy.passOver();
    }
    copy.committed = leader.committed;
    applyAll(copy);
    replicas.set(old.number, copy);
    match[old.number] = copy.last();
    sending[old.number] = false;
    old.end();
    time.note(() -> copy + " votes in the place of " + old);
    sendAll();
  }

  // ---- Comparing

  private void compareAgain() {
    compare();
    long millis = around.flies() ? COMPARE_FLYING_MILLIS : COMPARE_MILLIS;
    time.in(millis, null, null, this::compareAgain);
  }

  /** Replicas that have applied the same have the same state. */
  void compare() {
    for (Replica one : replicas) {
      for (Replica other : replicas.subList(0, one.number)) {
        if (one.applied() == other.applied() && !one.sameState(other)) {
          throw new SimulationFailure("replicas differ: " + one + " and " + other);
        }
      }
    }
  }

  /** Whether all have applied everything. */
  boolean allApplied() {
    return led && replicas.stream().allMatch(each -> each.applied() == leader.last());
  }
}
