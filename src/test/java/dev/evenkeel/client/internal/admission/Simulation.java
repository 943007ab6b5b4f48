package dev.evenkeel.client.internal.admission;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Options;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Rate;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.Answer;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerAction.Commit;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.HeartbeatNow;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.HandlerKind;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.Ownership;
import dev.evenkeel.client.internal.consume.Pending;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Shards with their leases, a dispatcher that grants, drains, calls off and steals at random, a
 * network that delays, loses, doubles and reorders, and members that crash and come again. Checks
 * at each step what a consumer promises.
 */
final class Simulation {
  /** How long a message may wait for its rate after it got its key, about. */
  private static final long RATE_WAIT_MILLIS = 6_000;

  private static final DedupKeys DEDUP_KEYS = new DedupKeys("g", ConsumerOptions.Dedup.KEY, null);
  private static final int SHARDS = 3;
  private static final int DATA_GROUPS = 2;
  private static final int MESSAGES = 400;
  private static final long MEMBER_TIMEOUT_MILLIS = 3_000;
  private static final long TROUBLE_MILLIS = 60_000;
  private static final long CALM_MILLIS = 180_000;

  private record Event(long at, long sequence, Runnable run) {}

  /** A shard as the log has it. */
  private static final class Log {
    final List<FetchAnswer.Placed> batches = new ArrayList<>();
    final String[] keys = new String[MESSAGES];
    final BitSet finished = new BitSet();

    Lease lease;
  }

  /** One run of a member. */
  private final class Member {
    final String instance;
    final ConsumerCore core;

    /** Null without dedup. */
    final DedupGate gate;

    /** Null without rates. */
    final RateGate rates;

    final MessageSource<Task> source;

    /** When a message of a key was begun last. */
    final Map<String, Long> begun = new HashMap<>();

    final List<Task> running = new ArrayList<>();
    final Map<Integer, Integer> runningOf = new HashMap<>();
    final Map<Ownership, Long> finishedEnds = new HashMap<>();
    long lastAnsweredSent = Long.MIN_VALUE;
    boolean alive = true;
    boolean linkUp = true;

    Member(String instance) {
      this.instance = instance;
      core =
          new ConsumerCore(
              options,
              instance,
              new HandlerKind(keepsState, keepsState, false, withBatches),
              new SplittableRandom(random.nextLong()));
      core.shardGroups(ShardGroups.formed(DATA_GROUPS));
      gate = dedup == null ? null : gate();
      Admission admission = gate == null ? core : gate;
      rates = options.getKeyRate() == null ? null : rates(admission);
      source = rates == null ? admission : rates;
      every(
          50,
          () -> {
            core.tick(now);
            if (gate != null) {
              gate.tick(now);
            }
            if (rates != null) {
              rates.tick(now);
            }
          });
      every(500, this::heartbeat);
    }

    private RateGate rates(Admission before) {
      return new RateGate(
          core, before, options, null, DEDUP_KEYS, RateGate.KEYS_MAX, dropped -> {});
    }

    private DedupGate gate() {
      return new DedupGate(
          core,
          instance,
          options.getParallel(),
          DEDUP_KEYS,
          dedup.coordinator(instance),
          first -> {},
          action -> whileAlive(() -> action.accept(now)),
          delivery -> {
            logs[delivery.shard()].finished.set((int) delivery.offset());
            Message message = delivery.message();
            dedup.declined(
                message.keyText(), DEDUP_KEYS.key(delivery.topic(), DEDUP_KEYS.bytes(message)));
          });
    }

    void every(long millis, Runnable action) {
      after(
          millis,
          () -> {
            if (alive) {
              action.run();
              turn();
              every(millis, action);
            }
          });
    }

    void heartbeat() {
      long sent = now;
      this.<Assignment>ask(
          () -> assignment(this),
          assignment -> {
            lastAnsweredSent = Math.max(lastAnsweredSent, sent);
            core.heartbeatAnswered(sent);
            core.assigned(assignment, now);
          },
          refused -> {});
    }

    void turn() {
      while (alive) {
        ConsumerAction action;
        while ((action = core.poll()) != null) {
          perform(action);
        }
        Task task = source.next(now);
        if (task == null) {
          return;
        }
        if (withBatches && !task.goesAlone()) {
          startBatch(task);
        } else {
          start(task);
        }
      }
    }

    private void startBatch(Task first) {
      List<Task> tasks = new ArrayList<>();
      for (Task task = first; task != null; task = nextWith(first, tasks.size())) {
        checkMayStart(task);
        assertThat(task.shard()).isEqualTo(first.shard());
        assertThat(task.goesAlone()).isFalse();
        assertThat(task.offset()).isGreaterThanOrEqualTo(first.offset() + tasks.size());
        tasks.add(task);
      }
      Log log = logs[first.shard()];
      if (options.getOrder() == ConsumerOptions.Order.SHARD) {
        assertThat(log.finished.nextClearBit(0))
            .as("order of shard")
            .isGreaterThanOrEqualTo((int) first.offset());
        assertThat(tasks.get(tasks.size() - 1).offset())
            .isEqualTo(first.offset() + tasks.size() - 1);
      }
      running.add(first);
      assertThat(running.size()).isLessThanOrEqualTo(options.getParallel());
      int ofShard = runningOf.merge(first.shard(), tasks.size(), Integer::sum);
      assertThat(ofShard).isLessThanOrEqualTo(handOutMax());
      boolean fails = random.nextInt(100) < (calm ? 2 : 10);
      endSoon(
          () -> {
            running.remove(first);
            runningOf.merge(first.shard(), -tasks.size(), Integer::sum);
            if (!fails) {
              for (Task task : tasks) {
                log.finished.set((int) task.offset());
                finishedEnds.merge(Pending.ownership(task), task.offset() + 1, Math::max);
              }
            }
            source.batchEnded(tasks, fails ? new IllegalStateException("simulated") : null, now);
          });
    }

    private Task nextWith(Task first, int taken) {
      return taken < options.getBatchMessages() ? source.nextWith(first, now) : null;
    }

    private int handOutMax() {
      int single = options.getHandOutMessages();
      return withBatches ? Math.max(single, options.getBatchMessages()) : single;
    }

    private void checkMayStart(Task task) {
      assertThat(linkUp).isTrue();
      assertThat(now - lastAnsweredSent).isLessThanOrEqualTo(MEMBER_TIMEOUT_MILLIS - 1_000);
      assertThat(Pending.works(task)).isTrue();
    }

    private void endSoon(Runnable end) {
      if (random.nextInt(3) == 0) {
        end.run();
      } else {
        after(random.nextInt(random.nextInt(20) == 0 ? 4_000 : 100), () -> whileAlive(end));
      }
    }

    private void start(Task task) {
      int shard = task.shard();
      Log log = logs[shard];
      int offset = (int) task.offset();
      checkMayStart(task);
      running.add(task);
      int ofShard = runningOf.merge(shard, 1, Integer::sum);
      assertThat(running.size()).isLessThanOrEqualTo(options.getParallel());
      assertThat(ofShard).isLessThanOrEqualTo(handOutMax());
      String key = log.keys[offset];
      assertThat(task.message().keyText()).isEqualTo(key);
      if (options.getOrder() == ConsumerOptions.Order.SHARD) {
        assertThat(log.finished.nextClearBit(0))
            .as("order of shard")
            .isGreaterThanOrEqualTo(offset);
      } else if (options.getOrder() == ConsumerOptions.Order.KEY && key != null) {
        for (int before = 0; before < offset; before++) {
          if (key.equals(log.keys[before]) && !log.finished.get(before)) {
            throw new AssertionError("order of key at " + before + ": " + offset);
          }
        }
      }
      if (dedup != null) {
        dedup.started(key);
      }
      if (rates != null && key != null) {
        Long before = begun.put(key, now);
        assertThat(before == null || now - before >= options.getKeyRate().periodMillis())
            .as("rate of " + key)
            .isTrue();
      }
      long began = now;
      boolean fails = random.nextInt(100) < (calm ? 2 : 10);
      Runnable end =
          () -> {
            running.remove(task);
            runningOf.merge(shard, -1, Integer::sum);
            if (dedup != null) {
              dedup.ended(key, fails ? -1 : began);
            }
            if (fails) {
              source.failed(task, new IllegalStateException("simulated"), now);
            } else {
              log.finished.set(offset);
              finishedEnds.merge(Pending.ownership(task), task.offset() + 1, Math::max);
              source.finished(task, now);
            }
          };
      endSoon(end);
    }

    private void whileAlive(Runnable action) {
      if (alive) {
        action.run();
        turn();
      }
    }

    private void perform(ConsumerAction action) {
      if (action instanceof Fetch f) {
        ask(
            () -> read(f.request()),
            answer -> core.answered(f, Answer.of(answer), now),
            refused -> core.answered(f, Answer.failed(refused), now));
      } else if (action instanceof ReadLease r) {
        ask(
            () -> logs[r.owned().shard().shard()].lease,
            lease -> core.answered(r, Answer.of(lease), now),
            refused -> core.answered(r, Answer.failed(refused), now));
      } else if (action instanceof Commit c) {
        ask(
            () -> commit(c.command()),
            done -> core.answered(c, Answer.of(Reply.DONE), now),
            refused -> core.answered(c, Answer.failed(refused), now));
      } else if (action instanceof CommitPositions c) {
        ask(
            () -> commit(c),
            reply -> core.answered(c, Answer.of(reply), now),
            refused -> core.answered(c, Answer.failed(refused), now));
      } else if (action instanceof Release r) {
        if (!Pending.tooLate(r.owned(), now)) {
          assertThat(r.command().offset())
              .as("what is finished does not come again after a release")
              .isGreaterThanOrEqualTo(finishedEnds.getOrDefault(r.owned().ownership(), 0L));
        }
        ask(
            () -> release(r.command()),
            done -> core.answered(r, Answer.of(Reply.DONE), now),
            refused -> core.answered(r, Answer.failed(refused), now));
      } else if (action instanceof RecordOutcomes r) {
        ask(
            () -> record(r.command()),
            noRoom -> core.answered(r, Answer.of(new Reply.OfOffsets(noRoom)), now),
            refused -> core.answered(r, Answer.failed(refused), now));
      } else if (action instanceof CallAssign c) {
        if (c.state() != null) {
          assertThat(new String(c.state(), StandardCharsets.UTF_8))
              .isEqualTo(String.valueOf(c.shard().offset()));
        }
        Throwable failure = random.nextInt(20) == 0 ? new IllegalStateException("x") : null;
        after(
            random.nextInt(50),
            () -> whileAlive(() -> core.answered(c, Answer.failed(failure), now)));
      } else if (action instanceof CallRelease c) {
        assertThat(Pending.running(c.owned())).isZero();
        Throwable failure = random.nextInt(20) == 0 ? new IllegalStateException("x") : null;
        String text = String.valueOf(c.shard().offset());
        byte[] state = keepsState ? text.getBytes(StandardCharsets.UTF_8) : null;
        after(
            random.nextInt(50),
            () -> whileAlive(() -> core.answered(c, Answer.failed(failure), now)));
      } else if (action instanceof HeartbeatNow) {
        after(1, () -> whileAlive(this::heartbeat));
      }
    }

    /** Over a network that may lose the request or the answer. */
    <T> void ask(
        Supplier<T> server,
        java.util.function.Consumer<T> answered,
        java.util.function.Consumer<RefusedException> refused) {
      boolean loseRequest = !calm && random.nextInt(20) == 0 || !linkUp;
      boolean loseAnswer = !calm && random.nextInt(20) == 0;
      if (loseRequest) {
        RefusedException lost = new RefusedException(Refusal.INDETERMINATE, "lost");
        after(1_000, () -> whileAlive(() -> refused.accept(lost)));
        return;
      }
      boolean twice = !calm && random.nextInt(30) == 0;
      after(
          random.nextInt(30),
          () -> {
            T answer = null;
            RefusedException no = null;
            try {
              answer = server.get();
              if (twice) {
                answer = server.get();
              }
            } catch (RefusedException e) {
              no = e;
            }
            if (loseAnswer) {
              no = new RefusedException(Refusal.INDETERMINATE, "lost");
            }
            T given = answer;
            RefusedException failure = no;
            after(
                loseAnswer ? 1_000 : random.nextInt(30),
                () ->
                    whileAlive(
                        () -> {
                          if (failure != null) {
                            refused.accept(failure);
                          } else {
                            answered.accept(given);
                          }
                        }));
          });
    }
  }

  private final SplittableRandom random;
  private final boolean keepsState;
  private final boolean withBatches;

  /** Null without. */
  private final DedupWorld dedup;

  private final boolean mapIsLost;

  private final ConsumerOptions options;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) -> a.at != b.at ? Long.compare(a.at, b.at) : Long.compare(a.sequence, b.sequence));
  private final Log[] logs = new Log[SHARDS];
  private final List<Member> members = new ArrayList<>();
  private long now = 1_000_000;
  private long sequence;
  private long term = 1;
  private long revision;
  private int born;
  private boolean calm;

  Simulation(long seed, ConsumerOptions.Order order, boolean keepsState, boolean withDedup) {
    this(seed, order, keepsState, withDedup, false, false);
  }

  Simulation(
      long seed,
      ConsumerOptions.Order order,
      boolean keepsState,
      boolean withDedup,
      boolean withRates,
      boolean withBatches) {
    this.withBatches = withBatches;
    random = new SplittableRandom(seed);
    mapIsLost = random.nextBoolean();
    dedup =
        withDedup
            ? new DedupWorld(
                random, () -> now, this::after, this::comes, withRates ? RATE_WAIT_MILLIS : 0)
            : null;
    this.keepsState = keepsState;
    options =
        Options.member("g", "m", "t")
            .setOrder(order)
            .setRetryDelaysMillis(Collections.nCopies(100, 1_000L))
            .setParallel(1 + random.nextInt(60))
            .setPendingMessagesMax(1 + random.nextInt(200))
            .setMemberTimeoutMillis(MEMBER_TIMEOUT_MILLIS)
            .setCommitDelayMillis(1 + random.nextInt(500))
            .setCommitMillis(1 + random.nextInt(2_000))
            .setCommitMessages(1 + random.nextInt(100));
    if (withBatches) {
      options.setBatchMessages(1 + random.nextInt(60));
    }
    if (withRates) {
      options
          .setRate(new Rate(20 + random.nextInt(30), 1_000))
          .setKeyRate(new Rate(1, 100 + random.nextInt(400)));
    }
    for (int i = 0; i < SHARDS; i++) {
      logs[i] = new Log();
      logs[i].lease = Commands.lease("g", new Shard(1, i), 0, null, null, 0, -1, null, null);
      fill(logs[i]);
    }
  }

  private void fill(Log log) {
    int offset = 0;
    while (offset < MESSAGES) {
      BatchBuilder builder = new BatchBuilder(256);
      int count = Math.min(MESSAGES - offset, 1 + random.nextInt(40));
      for (int i = 0; i < count; i++) {
        String key = random.nextInt(10) == 0 ? null : "k" + random.nextInt(12);
        log.keys[offset + i] = key;
        byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
        builder.add(new Message(bytes, Map.of(), 0, new byte[3]));
      }
      log.batches.add(new FetchAnswer.Placed(offset, builder.build(1, 0, offset)));
      offset += count;
    }
  }

  void run() {
    times(3, i -> join());
    after(100, this::dispatch);
    runUntil(now + TROUBLE_MILLIS);
    calm = true;
    for (Member member : List.copyOf(members)) {
      if (!member.linkUp) {
        link(member, true);
      }
    }
    if (dedup != null) {
      dedup.calm = true;
    }
    runUntil(now + CALM_MILLIS);
    for (Log log : logs) {
      assertThat(log.finished.cardinality()).as("all are handled").isEqualTo(MESSAGES);
      assertThat(log.lease.committed()).as("and committed").isEqualTo(MESSAGES);
    }
    for (Member member : members) {
      assertThat(Pending.messages(member.core)).isZero();
      assertThat(Pending.bytes(member.core)).isZero();
      assertThat(member.core.running()).isZero();
      if (member.gate != null) {
        assertThat(member.gate.waiting).isEmpty();
        assertThat(member.gate.parked).isEmpty();
      }
      assertThat(member.gate == null ? 0 : member.gate.atWork()).isZero();
      if (member.rates != null) {
        assertThat(member.rates.rates().count(GroupFigure.RATE_WAITING)).isZero();
      }
    }
    if (dedup != null) {
      dedup.check();
    }
  }

  private void runUntil(long end) {
    Event event;
    while ((event = events.peek()) != null && event.at <= end) {
      events.poll();
      now = event.at;
      event.run.run();
    }
    now = end;
  }

  private void after(long millis, Runnable action) {
    events.add(new Event(now + millis, sequence++, action));
  }

  // The dispatcher

  private void join() {
    members.add(new Member("i" + born++));
  }

  private void link(Member member, boolean up) {
    member.linkUp = up;
    member.core.link(up, now);
    member.turn();
  }

  private void dispatch() {
    if (!calm && random.nextInt(40) == 0) {
      Member crashed = members.remove(random.nextInt(members.size()));
      crashed.alive = false;
      if (dedup != null) {
        dedup.crashed(crashed.instance, crashed.running);
      }
      join();
    }
    if (!calm && random.nextInt(10) == 0) {
      Member member = members.get(random.nextInt(members.size()));
      link(member, !member.linkUp);
    }
    if (dedup != null) {
      if (!calm && mapIsLost && random.nextInt(100) == 0) {
        dedup.clear();
      }
      dedup.sweep(members.stream().map(m -> m.instance).collect(Collectors.toSet()));
    }
    if (!calm && random.nextInt(50) == 0) {
      term++;
      revision = 0;
    }
    for (Log log : logs) {
      Lease lease = log.lease;
      boolean deserted =
          lease.owned() && members.stream().noneMatch(m -> m.instance.equals(lease.instance()));
      if (!lease.owned() || deserted || !calm && random.nextInt(60) == 0) {
        Member member = members.get(random.nextInt(members.size()));
        log.lease = lease.granted("m", member.instance, 0, 5_000);
      } else if (!calm && random.nextInt(20) == 0) {
        boolean on = lease.drain() == null || random.nextInt(3) > 0;
        log.lease = lease.draining(on ? new Drain("", now + 5_000) : null);
      } else if (lease.drain() != null && now > lease.drain().deadlineMillis()) {
        log.lease =
            lease.granted("m", members.get(random.nextInt(members.size())).instance, 0, 5_000);
      }
    }
    revision++;
    for (Member member : members) {
      Assignment pushed = assignment(member);
      int copies = calm ? 1 : random.nextInt(3);
      for (int i = 0; i < copies; i++) {
        // Late ones arrive after newer ones.
        after(
            random.nextInt(calm ? 10 : 1_000),
            () ->
                member.whileAlive(
                    () -> {
                      if (member.linkUp) {
                        member.core.assigned(pushed, now);
                      }
                    }));
      }
    }
    after(200, this::dispatch);
  }

  private Assignment assignment(Member member) {
    List<Assignment.Owned> owned = new ArrayList<>();
    for (Log log : logs) {
      if (log.lease.owned() && log.lease.instance().equals(member.instance)) {
        owned.add(
            new Assignment.Owned(
                "t",
                log.lease.shard(),
                log.lease.epoch(),
                log.lease.drain() != null,
                0,
                random.nextBoolean() ? log.lease.committed() : -1));
      }
    }
    return new Assignment("g", "m", member.instance, term, revision++, owned, null);
  }

  /**
   * Whether a member that waits with a message owns its shard, as the log says, and nobody has
   * finished the message.
   */
  private boolean comes(Worker waits) {
    Log log = logs[(int) waits.shard()];
    int offset = (int) (waits.work() - 1 & DedupGate.OFFSETS);
    return log.lease.owned()
        && log.lease.instance().equals(waits.member())
        && !log.finished.get(offset);
  }

  // The log

  private FetchAnswer read(FetchRequest request) {
    Log log = logs[request.shard().shard()];
    // A deposed leader may serve a fenced owner.
    if (!log.lease.ownedAt(request.epoch()) && random.nextInt(3) > 0) {
      throw new RefusedException(Refusal.FENCED, "fenced");
    }
    List<FetchAnswer.Placed> found = new ArrayList<>();
    int most = 1 + random.nextInt(5);
    for (FetchAnswer.Placed placed : log.batches) {
      boolean fits = placed.endOffset() - request.offset() <= request.messagesMax();
      if (placed.endOffset() > request.offset()
          && found.size() < most
          && (fits || found.isEmpty())) {
        found.add(placed);
      }
    }
    return new FetchAnswer(0, MESSAGES, 0, found);
  }

  private Boolean commit(DataCommand.Commit commit) {
    Log log = logs[commit.shard().shard()];
    checkFinished(log, commit.offset());
    if (!log.lease.ownedAt(commit.epoch())) {
      throw new RefusedException(Refusal.FENCED, "fenced");
    }
    log.lease = log.lease.committedAt(Math.max(log.lease.committed(), commit.offset()));
    return true;
  }

  /** Each position by itself, as the log does. */
  private Reply commit(CommitPositions batch) {
    if (batch.command() instanceof DataCommand.Commit one) {
      commit(one);
      return Reply.DONE;
    }
    List<Reply.OfCommits.RefusedCommit> refused = new ArrayList<>();
    List<DataCommand.CommitMany.Position> positions =
        ((DataCommand.CommitMany) batch.command()).positions();
    for (int i = 0; i < positions.size(); i++) {
      assertThat(positions.get(i).shard().dataGroup(DATA_GROUPS)).isEqualTo(batch.dataGroup());
      try {
        commit(positions.get(i).command());
      } catch (RefusedException no) {
        refused.add(new Reply.OfCommits.RefusedCommit(i, no.refusal(), no.getMessage()));
      }
    }
    return new Reply.OfCommits(refused);
  }

  /** It never has room, so that all stays in the window. */
  private List<Long> record(DataCommand.RecordOutcomes command) {
    if (!logs[command.shard().shard()].lease.ownedAt(command.epoch())) {
      throw new RefusedException(Refusal.FENCED, "fenced");
    }
    return command.outcomes().stream()
        .filter(each -> each instanceof Outcome.Failed f && f.way() == Outcome.Way.MOVED)
        .map(Outcome::offset)
        .toList();
  }

  private Boolean release(DataCommand.Release release) {
    Log log = logs[release.shard().shard()];
    checkFinished(log, release.offset());
    Lease lease = log.lease;
    if (lease.epoch() == release.epoch() && !lease.owned()) {
      return true;
    }
    if (!lease.ownedAt(release.epoch())) {
      throw new RefusedException(Refusal.FENCED, "fenced");
    }
    boolean state = release.state() != null;
    log.lease =
        lease.released(
            release.offset(),
            state ? release.stateOffset() : lease.stateOffset(),
            state ? release.state() : lease.state());
    return true;
  }

  private static void checkFinished(Log log, long offset) {
    assertThat((long) log.finished.nextClearBit(0))
        .as("committed is never beyond finished")
        .isGreaterThanOrEqualTo(offset);
  }
}
