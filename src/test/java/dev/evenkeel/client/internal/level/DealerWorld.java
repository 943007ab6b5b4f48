package dev.evenkeel.client.internal.level;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.bus.level.StartPermission;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * A member and a dealer that hear of each other by a channel which loses, doubles, delays and
 * reorders. The dealer moves (a higher term, and all it knew is lost but for what the member says)
 * and sets the member aside. What really happened is known here, and checked at every start, end,
 * place and report.
 */
final class DealerWorld {
  private static final long MEMBER_TIMEOUT_MILLIS = 3_000;
  private static final long REPORT_TIMEOUT_MILLIS = 100;
  private static final int MAY_START_MILLIS = 400;
  private static final int SHARDS = 3;

  /** A message dealt once, as it is; the token is the epoch that the handler sees. */
  private static final class Dealing {
    final MessageId id;
    final long token;
    final int attempt;
    boolean received;
    boolean started;
    boolean ended;
    boolean well;
    boolean reported;
    boolean revoked;

    Dealing(MessageId id, long token, int attempt) {
      this.id = id;
      this.token = token;
      this.attempt = attempt;
    }
  }

  /** What a dealer knows. */
  private static final class Session {
    final long term;
    final long number;
    final boolean keep;
    boolean open;
    boolean collected;
    boolean settingAside;
    int capacity;
    long received;
    final List<Dealing> numbered = new ArrayList<>();
    final Set<Long> ended = new HashSet<>();

    Session(long term, long number, boolean keep) {
      this.term = term;
      this.number = number;
      this.keep = keep;
    }
  }

  private record Event(long atMillis, long order, Runnable what) {}

  private record Waiting(MessageId id, int attempt) {}

  private final Random random;
  private final int messages;
  private final LevelWork work;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.atMillis != b.atMillis
                  ? Long.compare(a.atMillis, b.atMillis)
                  : Long.compare(a.order, b.order));
  private final ArrayDeque<Waiting> pool = new ArrayDeque<>();
  private final Map<Long, Dealing> byToken = new HashMap<>();
  private final Map<MessageId, Dealing> live = new HashMap<>();
  private final Set<MessageId> done = new HashSet<>();
  private final Set<MessageId> running = new HashSet<>();
  private final Map<Long, Long> reportsSent = new HashMap<>();
  private Session session;
  private boolean mischief = true;
  private long now = 10_000;
  private long order;
  private long tokens;
  private long mayStartUntil;
  private long lastHeartbeat;
  private long finishedSinceJoin;
  private boolean heartbeats = true;

  DealerWorld(long seed, int messages, int parallel, int range) {
    this.random = new Random(seed);
    this.messages = messages;
    for (int i = 0; i < messages; i++) {
      pool.add(new Waiting(new MessageId(new Shard(1, i % SHARDS), i / SHARDS, 0), 1));
    }
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup("g")
            .setMember("m")
            .setParallel(parallel)
            .setPendingMessagesMax(50)
            .setMemberTimeoutMillis(MEMBER_TIMEOUT_MILLIS);
    work =
        new LevelWork(
            options,
            "run",
            range,
            new SplittableRandom(seed),
            (text, cause) -> {},
            (text, cause) -> {},
            () -> false);
    begin(1, 1, random.nextBoolean());
    every(10, this::member);
    every(500, this::heartbeat);
    every(20, this::deal);
  }

  // Time and the channel

  private void at(long delayMillis, Runnable what) {
    events.add(new Event(now + delayMillis, order++, what));
  }

  private void every(long millis, Runnable what) {
    at(
        millis,
        () -> {
          what.run();
          every(millis, what);
        });
  }

  /** Steps until the time has come, or all is done. */
  void runFor(long millis) {
    long end = now + millis;
    while (events.peek().atMillis <= end) {
      Event event = events.poll();
      now = event.atMillis;
      event.what.run();
    }
    now = end;
  }

  /** Delivers perhaps never, perhaps twice, and any time later. */
  private void send(Runnable delivery) {
    if (!mischief) {
      at(1, delivery);
      return;
    }
    for (int copies = random.nextInt(10) == 0 ? 2 : 1; copies > 0; copies--) {
      if (random.nextInt(8) > 0) {
        at(random.nextInt(random.nextInt(12) == 0 ? 600 : 15), delivery);
      }
    }
  }

  // The dealer

  void mischief() {
    int what = random.nextInt(10);
    // What was dealt to others stays with them.
    boolean keep = session.keep || session.open;
    if (what < 4) {
      begin(session.term, session.number + 1, keep);
    } else if (what < 7) {
      begin(session.term + 1, 1, keep);
    } else if (what < 9 && session.open) {
      session.settingAside = true;
    } else {
      heartbeats = !heartbeats;
    }
  }

  private void begin(long term, long number, boolean keep) {
    session = new Session(term, number, keep);
    collect(session);
  }

  private void collect(Session asked) {
    if (asked != session || asked.open) {
      return;
    }
    SessionStart collect =
        new SessionStart("g", asked.term, asked.number, "n", asked.keep, MAY_START_MILLIS);
    send(
        () -> {
          try {
            var place = work.start(decode(collect.encode().view(), SessionStart::decode), now);
            collected(asked, place);
            send(() -> placed(asked, decode(place.encode().view(), SessionState::decode)));
          } catch (RefusedException e) {
            assertThat(e.refusal()).isEqualTo(Refusal.FENCED);
          }
          member();
        });
    at(40, () -> collect(asked));
  }

  /** The member takes the session up. */
  private void collected(Session by, SessionState place) {
    if (by.collected) {
      return;
    }
    by.collected = true;
    mayStartUntil = Math.max(mayStartUntil, now + MAY_START_MILLIS);
    if (!by.keep) {
      finishedSinceJoin = 0;
      assertThat(place.held()).isEmpty();
    }
    assertThat(place.finished()).isEqualTo(finishedSinceJoin);
    place.held().forEach(held -> assertThat(live.get(held).ended).as("held and ended").isFalse());
  }

  private void placed(Session by, SessionState place) {
    if (by != session || by.open) {
      return;
    }
    by.open = true;
    by.capacity = place.capacity();
    Set<MessageId> held = new HashSet<>(place.held());
    Set<MessageId> ended = new HashSet<>(place.ended());
    place.held().forEach(id -> by.numbered.add(live.get(id)));
    by.received = by.numbered.size();
    for (Dealing each : List.copyOf(live.values())) {
      if (held.contains(each.id)) {
        continue;
      }
      if (ended.contains(each.id) && each.well) {
        reported(each);
      } else if (ended.contains(each.id)) {
        // It had finished it before it was set aside, and it was dealt again needlessly.
        each.revoked = true;
        live.remove(each.id);
        done.add(each.id);
      } else {
        assertThat(each.ended && each.well && by.keep).as("finished and not told").isFalse();
        takeBack(each);
      }
    }
  }

  private void reported(Dealing dealing) {
    assertThat(dealing.reported).isFalse();
    assertThat(dealing.ended).isTrue();
    dealing.reported = true;
    live.remove(dealing.id);
    if (dealing.well) {
      done.add(dealing.id);
    } else {
      pool.addLast(new Waiting(dealing.id, dealing.attempt + 1));
    }
  }

  private void takeBack(Dealing dealing) {
    dealing.revoked = true;
    live.remove(dealing.id);
    pool.addFirst(new Waiting(dealing.id, dealing.attempt));
  }

  private void deal() {
    Session by = session;
    if (!by.open) {
      return;
    }
    if (by.settingAside) {
      if (now >= mayStartUntil) {
        List.copyOf(live.values()).forEach(this::takeBack);
        begin(by.term, by.number + 1, false);
      }
      return;
    }
    while (by.numbered.size() - by.ended.size() < by.capacity && !pool.isEmpty()) {
      Waiting next = pool.poll();
      Dealing dealing = new Dealing(next.id(), ++tokens, next.attempt());
      byToken.put(dealing.token, dealing);
      live.put(dealing.id, dealing);
      by.numbered.add(dealing);
    }
    long from = mischief ? Math.max(0, by.received - random.nextInt(3)) : by.received;
    if (from < by.numbered.size()) {
      int to = (int) from + 1 + random.nextInt(by.numbered.size() - (int) from);
      deal(by, from, by.numbered.subList((int) from, to));
    }
  }

  private void deal(Session by, long from, List<Dealing> some) {
    List<HandOut.Entry> dealt = new ArrayList<>();
    for (Dealing each : some) {
      Message message = new Message(null, Map.of(), 1, new byte[3]);
      dealt.add(new HandOut.Entry(each.id, each.token, each.attempt, message));
    }
    Map<Shard, Long> committed = new HashMap<>();
    for (int i = 0; i < SHARDS; i++) {
      long offset = 0;
      while (done.contains(new MessageId(new Shard(1, i), offset, 0))) {
        offset++;
      }
      committed.put(new Shard(1, i), offset);
    }
    var deal = new HandOut(by.term, by.number, from, new byte[1], Map.of(1, "t"), committed, dealt);
    send(
        () -> {
          try {
            long received = work.receive(decode(deal.encode().view(), HandOut::decode), now);
            by.numbered.subList(0, (int) received).forEach(each -> each.received = true);
            send(() -> by.received = Math.max(by.received, received));
          } catch (RefusedException e) {
            assertThat(e.refusal()).isEqualTo(Refusal.FENCED);
            assertThat(by == session && by.collected).isFalse();
          }
          member();
        });
  }

  private void heard(Report report) {
    Session by = session;
    if (!by.open || by.term != report.term() || by.number != report.session()) {
      Refusal refusal = random.nextInt(4) == 0 ? Refusal.NOT_LEADER : Refusal.FENCED;
      send(() -> work.reportFailed(report.number(), refusal, now));
      return;
    }
    if (by.settingAside) {
      return;
    }
    by.received = Math.max(by.received, report.received());
    Set<Long> failed = new HashSet<>();
    report.failed().forEach(each -> failed.add(each.sequence()));
    for (long i = 0; i < report.endedBelow(); i++) {
      end(by, i, failed);
    }
    for (long each : report.endedAbove()) {
      end(by, each, failed);
    }
    by.capacity = report.capacity();
    mayStartUntil = Math.max(mayStartUntil, reportsSent.get(report.number()) + MAY_START_MILLIS);
    send(() -> work.permission(new StartPermission(report.number(), MAY_START_MILLIS), now));
  }

  private void end(Session by, long number, Set<Long> failed) {
    if (by.ended.add(number)) {
      Dealing dealing = by.numbered.get((int) number);
      assertThat(dealing.well).isEqualTo(!failed.contains(number));
      reported(dealing);
    }
  }

  // The member

  private void heartbeat() {
    if (heartbeats || !mischief) {
      long sent = now;
      send(
          () -> {
            lastHeartbeat = Math.max(lastHeartbeat, sent);
            work.heartbeatAnswered(sent);
          });
    }
  }

  private void member() {
    LevelTask task;
    while ((task = work.next(now)) != null) {
      start(task);
    }
    while (work.pollLost() != null) {
      // Told to the handler, who need not care.
    }
    Report report = work.report(now);
    if (report != null) {
      reportsSent.put(report.number(), now);
      send(() -> heard(decode(report.encode().view(), Report::decode)));
      at(
          REPORT_TIMEOUT_MILLIS,
          () -> work.reportFailed(report.number(), Refusal.INDETERMINATE, now));
    }
  }

  private void start(LevelTask task) {
    Dealing dealing = byToken.get(task.delivery("m").epoch());
    assertThat(dealing.started).as("begun twice").isFalse();
    assertThat(dealing.revoked).as("dealt to others").isFalse();
    assertThat(now).as("the permission").isLessThan(mayStartUntil);
    assertThat(now - lastHeartbeat).isLessThan(MEMBER_TIMEOUT_MILLIS - 999);
    assertThat(running.add(dealing.id)).as("its handler runs").isTrue();
    dealing.started = true;
    boolean well = random.nextInt(6) > 0;
    long takes = mischief && random.nextInt(30) == 0 ? random.nextInt(1_500) : random.nextInt(10);
    if (takes == 0) {
      end(task, dealing, well);
    } else {
      at(takes, () -> end(task, dealing, well));
    }
  }

  private void end(LevelTask task, Dealing dealing, boolean well) {
    running.remove(dealing.id);
    if (!task.forgotten) {
      dealing.ended = true;
      dealing.well = well;
      finishedSinceJoin += well ? 1 : 0;
    }
    if (well) {
      work.finished(task, now);
    } else {
      work.failed(task, new IllegalStateException("broken"), now);
    }
  }

  private static <T> T decode(ByteBuffer body, Function<ByteBuffer, T> decode) {
    return decode.apply(body);
  }

  // The end

  /** From here on all goes well: every message must be finished, told, and confirmed. */
  void goesWell() {
    mischief = false;
    for (int i = 0; i < 600 && done.size() < messages; i++) {
      runFor(100);
    }
    assertThat(done).hasSize(messages);
    assertThat(live).isEmpty();
    work.close();
    runFor(5_000);
    assertThat(work.drained(now)).isTrue();
    assertThat(work.running()).isZero();
  }
}
