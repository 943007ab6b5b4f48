package dev.evenkeel.dispatcher.level.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * A group in virtual time: a log with some shards, one dealer after another, members, and a channel
 * between them that loses, delays and doubles. What is true is counted here, and not asked of the
 * book.
 */
final class LevelDispatchWorld {
  private static final int SHARDS = 4;
  private static final long TIMEOUT_MILLIS = 2_000;
  private static final long REGISTRY_MILLIS = 1_500;

  /** One delivery of a message by the log. */
  private record Ticket(Dealer dealer, long hold, Shard shard, long offset, int attempt) {}

  /** A dealer, with the consumer behind it. */
  private final class Dealer {
    final long term;
    final String node;
    final LevelDispatch book;
    final Map<Shard, Long> fetched = new LinkedHashMap<>();
    final Map<Shard, TreeSet<Long>> done = new HashMap<>();
    final Map<Shard, Long> low = new HashMap<>();
    final Map<Shard, Long> holds = new HashMap<>();
    final Set<Ticket> open = new HashSet<>();
    int retries;
    boolean over;

    Dealer(long term) {
      this.term = term;
      node = "n" + term;
      book = new LevelDispatch(group, node, policy);
      committed.keySet().forEach(shard -> own(shard));
    }

    void own(Shard shard) {
      fetched.put(shard, committed.get(shard));
      holds.put(shard, order++);
      low.put(shard, committed.get(shard));
      done.put(shard, new TreeSet<>());
      book.committed(shard, committed.get(shard));
    }

    boolean fetch() {
      boolean any = false;
      for (Shard shard : fetched.keySet()) {
        while (open.size() + retries < inFlightMax && fetched.get(shard) < perShard) {
          long offset = fetched.merge(shard, 1L, Long::sum) - 1;
          deliver(new Ticket(this, holds.get(shard), shard, offset, 1));
          any = true;
        }
      }
      return any;
    }

    void deliver(Ticket ticket) {
      open.add(ticket);
      MessageId id = new MessageId(ticket.shard(), ticket.offset(), 0);
      book.delivery(
          "t",
          new HandOut.Entry(id, term, ticket.attempt(), new Message(null, null, 0, BODY)),
          ticket);
    }

    void complete(Object which) {
      if (!open.remove((Ticket) which)) {
        throw new AssertionError(which + " was completed twice");
      }
    }

    void finished(Ticket ticket) {
      complete(ticket);
      MessageId id = new MessageId(ticket.shard(), ticket.offset(), 0);
      if (!handled.contains(id)) {
        throw new AssertionError(id + " was finished by nobody");
      }
      TreeSet<Long> shard = done.get(ticket.shard());
      shard.add(ticket.offset());
      long below = low.get(ticket.shard());
      while (shard.remove(below)) {
        below++;
      }
      low.put(ticket.shard(), below);
    }

    void failed(Ticket ticket) {
      complete(ticket);
      retries++;
      at(
          now + 300,
          () -> {
            retries--;
            boolean held = fetched.containsKey(ticket.shard());
            if (!over && held && holds.get(ticket.shard()) == ticket.hold()) {
              deliver(
                  new Ticket(
                      this, ticket.hold(), ticket.shard(), ticket.offset(), ticket.attempt() + 1));
              turn();
            }
          });
    }

    void commit() {
      low.forEach(
          (shard, offset) -> {
            committed.merge(shard, offset, Math::max);
            book.committed(shard, offset);
          });
    }

    /** Everything that the book wants. */
    void turn() {
      if (over) {
        return;
      }
      fetch();
      do {
        book.handOut(now);
        LevelAction action;
        while ((action = book.poll()) != null) {
          perform(action);
        }
        see();
      } while (fetch());
      assertThat(Insight.open(book)).as("what waits and is in hand").isEqualTo(open.size());
    }

    void perform(LevelAction action) {
      if (action instanceof LevelAction.Finished a) {
        finished((Ticket) a.ticket());
      } else if (action instanceof LevelAction.Failed a) {
        failed((Ticket) a.ticket());
      } else if (action instanceof LevelAction.Deadly a) {
        failed((Ticket) a.ticket());
      } else if (action instanceof LevelAction.GivenBack a) {
        complete(a.ticket());
      } else if (action instanceof LevelAction.SendStart a) {
        collect(this, a);
      } else if (action instanceof LevelAction.SendHandOut a) {
        deal(this, a);
      }
    }

    /** The lease of a shard is lost, and there again. */
    void withdraw(Shard shard) {
      book.withdrawn(shard);
      LevelAction action;
      while ((action = book.poll()) != null) {
        perform(action);
      }
      fetched.remove(shard);
      at(
          now + 200,
          () -> {
            if (!over) {
              own(shard);
              turn();
            }
          });
    }
  }

  /** What the later of two had when. */
  private record Pair(SimMember old, SimMember young) {}

  private static final byte[] BODY = new byte[10];

  final String group = "g";
  final Random random;
  private final LevelPolicy policy;
  private final int perShard;
  private final int inFlightMax;
  private final int slowest;
  long now = 1_000;
  boolean faults = true;

  private final PriorityQueue<Timed> queue = new PriorityQueue<>();
  private long order;
  private final Map<Shard, Long> committed = new LinkedHashMap<>();
  private final Set<MessageId> handled = new HashSet<>();
  private final Map<String, SimMember> registered = new LinkedHashMap<>();
  private final List<SimMember> members = new ArrayList<>();
  private final Set<SimMember> live = new LinkedHashSet<>();
  private final Map<Pair, long[]> pairs = new HashMap<>();

  /** Sessions that were set aside: nothing of them is started any more. */
  private final Set<String> aside = new HashSet<>();

  private Dealer dealer;
  private long lastTerm;
  private int named;
  long finishedInAll;
  long setAsides;

  private record Timed(long at, long order, Runnable task) implements Comparable<Timed> {
    @Override
    public int compareTo(Timed other) {
      int byTime = Long.compare(at, other.at);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  LevelDispatchWorld(long seed, LevelPolicy policy, int perShard) {
    random = new Random(seed);
    this.policy = policy;
    this.perShard = perShard;
    inFlightMax = 5 + random.nextInt(200);
    slowest = random.nextBoolean() ? 10 : 200;
    times(SHARDS, i -> committed.put(new Shard(1, i), 0L));
    newDealer();
    every(20, () -> dealer.book.tick(now));
    every(10, () -> dealer.turn());
    every(10, () -> List.copyOf(members).forEach(SimMember::step));
    every(300, () -> dealer.commit());
    every(500, this::tellMembers);
  }

  void at(long time, Runnable task) {
    queue.add(new Timed(Math.max(time, now), order++, task));
  }

  private void every(long millis, Runnable task) {
    at(
        now + millis,
        () -> {
          task.run();
          every(millis, task);
        });
  }

  void run(long millis) {
    long until = now + millis;
    while (queue.peek().at() <= until) {
      Timed next = queue.poll();
      now = next.at();
      next.task().run();
      see();
    }
    now = until;
  }

  // What happens

  void mischief() {
    int what = random.nextInt(100);
    if (what < 25 && registered.size() < 6) {
      join();
    } else if (what < 35) {
      pick(member -> member.closing = true);
      tellMembers();
    } else if (what < 42) {
      pick(
          member -> {
            member.alive = false;
            at(now + REGISTRY_MILLIS, () -> forget(member));
          });
    } else if (what < 55) {
      pick(member -> member.stoppedUntil = now + random.nextInt(8_000));
    } else if (what < 60) {
      pick(this::forget);
    } else if (what < 68) {
      newDealer();
    } else if (what < 72) {
      dealer.withdraw(new Shard(1, random.nextInt(SHARDS)));
    }
  }

  void join() {
    String name = random.nextInt(3) == 0 && named > 0 ? "m" + random.nextInt(named) : "m" + named++;
    SimMember old = registered.get(name);
    if (old != null) {
      old.alive = false;
    }
    long handler = random.nextInt(4) == 0 ? 0 : random.nextInt(slowest);
    SimMember member = new SimMember(this, name, name + "@" + now, 1 + random.nextInt(8), handler);
    registered.put(name, member);
    members.add(member);
    tellMembers();
  }

  private void pick(Consumer<SimMember> use) {
    if (!registered.isEmpty()) {
      use.accept(List.copyOf(registered.values()).get(random.nextInt(registered.size())));
    }
  }

  /** The registry drops it; it may live on, and then it comes back. */
  private void forget(SimMember member) {
    if (!registered.remove(member.name, member)) {
      return;
    }
    tellMembers();
    if (member.alive && !member.closing) {
      at(
          now + random.nextInt(2_000),
          () -> {
            if (registered.putIfAbsent(member.name, member) == null) {
              tellMembers();
            }
          });
    }
  }

  private void tellMembers() {
    for (SimMember each : List.copyOf(registered.values())) {
      if (each.closing && each.alive && each.holds().isEmpty()) {
        each.alive = false;
        registered.remove(each.name);
      }
    }
    members.removeIf(each -> !each.alive);
    List<LiveMember> told = new ArrayList<>();
    registered
        .values()
        .forEach(
            each ->
                told.add(
                    new LiveMember(
                        each.name,
                        each.instance,
                        SimMember.STALL_MILLIS,
                        Limits.CRASHES_MAX_DEFAULT,
                        each.closing,
                        null,
                        null,
                        now >= each.heardMillis)));
    dealer.book.members(told, now);
    see();
    dealer.turn();
  }

  void newDealer() {
    if (dealer != null) {
      dealer.over = true;
    }
    dealer = new Dealer(++lastTerm);
    Dealer next = dealer;
    for (SimMember each : registered.values()) {
      // Most find the next dispatcher soon; some are late.
      each.heardMillis = now + random.nextInt(random.nextInt(10) == 0 ? 8_000 : 1_500);
      at(each.heardMillis, this::tellMembers);
    }
    at(
        now + random.nextInt(500),
        () -> {
          if (!next.over) {
            tellMembers();
            next.book.begin(next.term, now);
            next.turn();
          }
        });
  }

  /** No more faults: everybody left lives, and there is somebody. */
  void settle() {
    faults = false;
    for (SimMember each : List.copyOf(registered.values())) {
      if (!each.alive) {
        registered.remove(each.name);
      }
      each.stoppedUntil = -1;
    }
    if (registered.values().stream().allMatch(each -> each.closing)) {
      join();
    }
    tellMembers();
  }

  boolean allHandled() {
    return committed.values().stream().allMatch(offset -> offset == perShard);
  }

  String state() {
    return committed + " " + dealer.book.figures(now) + " open " + dealer.open.size();
  }

  int remembered() {
    return Insight.remembered(dealer.book);
  }

  // The channel

  private boolean lost() {
    return faults && random.nextInt(50) == 0;
  }

  private long delay() {
    return faults && random.nextInt(60) == 0 ? random.nextInt(4_000) : random.nextInt(3);
  }

  /** Brings something over, perhaps twice or never. */
  private void carry(Runnable arrival) {
    if (lost()) {
      return;
    }
    at(now + delay(), arrival);
    if (faults && random.nextInt(50) == 0) {
      at(now + delay(), arrival);
    }
  }

  /** Calls {@code answered} once: with the first answer, or with null after the timeout. */
  private <T> void request(Consumer<Consumer<T>> ask, Consumer<T> answered) {
    boolean[] over = new boolean[1];
    Consumer<T> once =
        answer -> {
          if (!over[0]) {
            over[0] = true;
            answered.accept(answer);
          }
        };
    at(now + TIMEOUT_MILLIS, () -> once.accept(null));
    carry(() -> ask.accept(answer -> carry(() -> once.accept(answer))));
  }

  private SimMember byInstance(String instance) {
    return members.stream().filter(m -> m.instance.equals(instance)).findFirst().orElse(null);
  }

  private void collect(Dealer by, LevelAction.SendStart send) {
    SessionStart body = SessionStart.decode(send.body().encode().view());
    this.<Object[]>request(
        answer -> {
          SimMember member = byInstance(send.instance());
          if (member != null) {
            member.whenRunning(() -> answer.accept(new Object[] {member.collect(body)}));
          }
        },
        answer -> {
          if (by.over) {
            return;
          }
          SessionState place = answer == null ? null : (SessionState) answer[0];
          if (place == null) {
            Refusal refusal = answer == null ? Refusal.INDETERMINATE : Refusal.FENCED;
            by.book.startFailed(send, refusal, now);
          } else {
            by.book.started(send, SessionState.decode(place.encode().view()), now);
          }
          see();
          by.turn();
        });
  }

  private void deal(Dealer by, LevelAction.SendHandOut send) {
    HandOut body = HandOut.decode(send.body().encode().view());
    this.<Long>request(
        answer -> {
          SimMember member = byInstance(send.instance());
          if (member != null) {
            member.whenRunning(() -> answer.accept(member.deal(body)));
          }
        },
        answer -> {
          if (by.over) {
            return;
          }
          if (answer == null || answer < 0) {
            by.book.handOutFailed(
                send, answer == null ? Refusal.INDETERMINATE : Refusal.FENCED, now);
          } else {
            by.book.received(send, answer, now);
          }
          by.turn();
        });
  }

  void report(SimMember from, String node, Report report, Consumer<LevelDispatch.Heard> heard) {
    Report body = Report.decode(report.encode().view());
    request(
        answer -> {
          if (!dealer.over && dealer.node.equals(node)) {
            answer.accept(dealer.book.reported(body, now));
            dealer.turn();
          }
        },
        heard);
  }

  // What is true

  /** Some take longer than others, and a few longer than anybody may hold the others up. */
  long handlerMillis(long usual) {
    if (faults && random.nextInt(100) == 0) {
      return SimMember.STALL_MILLIS + random.nextInt(4_000);
    }
    return random.nextInt(4) == 0 ? usual * 3 : usual;
  }

  boolean handlerFails() {
    return faults && random.nextInt(40) == 0;
  }

  void handled(MessageId id) {
    handled.add(id);
  }

  /** {@code member} has got a message. */
  void taken(SimMember member, MessageId id) {
    if (!live.contains(member) || member.term != dealer.term) {
      return;
    }
    for (SimMember other : live) {
      if (other != member && other.term == dealer.term && other.holds().contains(id)) {
        throw new AssertionError(id + " is in the hands of " + other.name + " and " + member.name);
      }
    }
  }

  void started(SimMember member) {
    if (aside.contains(sessionOf(member))) {
      throw new AssertionError(member.name + " starts something though it was set aside");
    }
  }

  private static String sessionOf(SimMember member) {
    return member.instance + "/" + member.term + "/" + member.session;
  }

  void finishedOne(SimMember member) {
    finishedInAll++;
    if (!live.contains(member)) {
      return;
    }
    pairs.forEach(
        (pair, had) -> {
          if (pair.young() == member && member.finished == 1) {
            had[1] = pair.old().finished;
          }
          boolean both = live.contains(pair.young()) && live.contains(pair.old());
          if (both && (pair.young() == member || pair.old() == member)) {
            long young = pair.young().finished;
            check(pair.old(), pair.old().finished - had[0], pair.young(), young);
            check(pair.young(), young, pair.old(), pair.old().finished - had[1]);
          }
        });
  }

  private void check(SimMember ahead, long its, SimMember behind, long theirs) {
    if (its - theirs > policy.range().steps()) {
      throw new AssertionError(
          ahead.name + " has finished " + its + ", " + behind.name + " " + theirs + " since then");
    }
  }

  /** Who takes part now, by the dealer; while it has not begun, those of the one before. */
  private void see() {
    LevelFigures figures = dealer.book.figures(now);
    if (!dealer.book.restored) {
      for (SimMember each : List.copyOf(live)) {
        if (registered.get(each.name) != each) {
          live.remove(each);
        }
      }
      return;
    }
    List<String> level = Insight.level(dealer.book);
    for (SimMember each : List.copyOf(live)) {
      if (registered.get(each.name) != each || !level.contains(each.name)) {
        live.remove(each);
        if (figures.setAside() > setAsides && each.term == dealer.term) {
          aside.add(sessionOf(each));
        }
      }
    }
    setAsides = figures.setAside();
    for (String name : level) {
      SimMember member = registered.get(name);
      boolean there = live.contains(member);
      if (member.enteredTerm != dealer.term || !there) {
        if (Insight.joinedHere(dealer.book, dealer.term, name)) {
          enter(member);
        } else {
          // Goes on from where it was, perhaps missed by the dealer before.
          member.enteredTerm = dealer.term;
          live.add(member);
        }
      }
    }
    assertThat(figures.gap()).isLessThanOrEqualTo(policy.range().steps());
  }

  private void enter(SimMember member) {
    pairs.keySet().removeIf(pair -> pair.old() == member || pair.young() == member);
    member.enteredTerm = dealer.term;
    live.remove(member);
    live.forEach(old -> pairs.put(new Pair(old, member), new long[] {old.finished, old.finished}));
    live.add(member);
  }
}
