package dev.evenkeel.sim;

import dev.evenkeel.broker.machine.BodyUse;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.BatchSource;
import dev.evenkeel.broker.state.DataListener;
import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.KeptPart;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.LogTime;
import dev.evenkeel.broker.state.ProducerRecord;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.StoredFailures;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import dev.evenkeel.storage.Store;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * A data group of the brokers: the production state machines of its replicas, see {@link SimLog}.
 * It has a leader most of the time. One that was deposed may serve reads for a moment, from a state
 * that is behind.
 */
final class DataGroup {
  /** What the brokers of a group need of the world. */
  interface Surroundings {
    void leaseChanged(LeaseChange change);

    /** A lease that somebody owned was granted to another. */
    void taken(Lease before);

    boolean faulty();

    /** Whether hours pass in a moment. */
    boolean flies();

    /** Whether leaders look for what retention drops. */
    boolean retains();

    /** Whether a group gets nothing from a shard. */
    boolean isPaused(String group, Shard shard);

    /** What is judged of each group that is judged, by its name. */
    Map<String, Ledger> ledgers();

    /** Hears what the log takes of messages. */
    Arrivals arrivals();

    /** Whether there are delayed messages. */
    boolean delays();

    /** Whether what all groups have consumed is dropped at once. */
    boolean drops();

    /** Whether retention may drop anything of a shard, whatever groups have consumed. */
    boolean mayDrop(Shard shard);

    /** Whether limits of its topic may drop what groups have not consumed. */
    boolean mayDropUnread(Shard shard);

    /** Most messages of a group and shard that wait for another attempt. */
    int retriesMax();

    /** Whether a group reads the topic of a shard. */
    boolean reads(String group, Shard shard);

    SimNodes nodes();

    /** The feature level to which log groups are raised at the beginning; 0: they are not. */
    int level();

    /** Whether owners die of a message. */
    boolean deadly(Shard shard, long offset);
  }

  /** Older messages are dropped, read or not. No seed takes so long. */
  static final long AGE_MILLIS_MAX = 2 * 3_600_000L;

  /** When the owner of a paused shard asks again for retries that are due. */
  private static final long PAUSE_LOOK_MILLIS = 1_000;

  private static final int LETTERS_MAX = 1_000;
  private static final int AGAIN_MILLIS = 100;
  private static final int RETAIN_MILLIS = 5_000;
  private static final int RETAIN_OFTEN_MILLIS = 200;

  /** Enough of them make everything too old. */
  private static final long STEPS = 2 * AGE_MILLIS_MAX / LogTime.STEP_MILLIS_MAX;

  private final Timeline time;
  private final SplittableRandom random;
  private final ShardLogs logs;
  private final Bug bug;
  private final Surroundings around;
  private final SimLog log;
  private final LongPolls fetches;
  private final LinkedHashSet<Shard> changed = new LinkedHashSet<>();

  /** Null: there are no delayed messages. */
  private final SimDueTimer timer;

  /** The clock when the leader looked for old messages last. */
  private long retainedMillis;

  DataGroup(
      int number,
      Timeline time,
      SplittableRandom random,
      ShardLogs logs,
      Bug bug,
      Surroundings around) {
    this.time = time;
    this.random = random;
    this.logs = logs;
    this.bug = bug;
    this.around = around;
    Consumer<Replica> opened = replica -> replica.state().listen(new Told(replica));
    log = new SimLog(time, random, around, bug, "d" + number, opened, this::elected);
    fetches = new LongPolls(time, random, this::state, around::isPaused);
    timer = around.delays() ? new SimDueTimer(time, random, around.arrivals(), this, bug) : null;
    retainedMillis = clockMillis();
    time.in(retainMillis(), null, null, this::retain);
    if (around.level() > 0) {
      begin(new DataCommand.RaiseFeatureLevel(around.level()));
    }
  }

  /** What a leader's broker hears. */
  private final class Told implements DataListener {
    private final Replica replica;

    Told(Replica replica) {
      this.replica = replica;
    }

    private boolean leads() {
      return replica == log.leader();
    }

    @Override
    public void shardChanged(Shard shard) {
      if (leads()) {
        changed.add(shard);
      }
    }

    @Override
    public void leaseChanged(Lease lease) {
      if (leads()) {
        changed.add(lease.shard());
        around.leaseChanged(LeaseChange.of(lease));
      }
    }

    @Override
    public void leaseForgotten(Lease former) {
      if (leads()) {
        changed.add(former.shard());
        around.leaseChanged(LeaseChange.forgotten(former));
      }
    }

    @Override
    public void retriesAdded(LeaseKey key) {
      if (leads()) {
        changed.add(key.shard());
      }
    }

    @Override
    public void everythingChanged() {}
  }

  // ---- Leaders

  boolean led() {
    return log.led();
  }

  /** The leader's. */
  DataState state() {
    return log.leader().state();
  }

  /** Of the leader. */
  int term() {
    return log.term();
  }

  /** There may be delayed messages that are due earlier. */
  void delayedChanged() {
    timer.tell();
  }

  /** The clock that the leader writes into entries. */
  long clockMillis() {
    SimNode node = log.leader().node;
    return bug.entryMillis(node.clock.millis(), node.machine.wallMillis());
  }

  /** Whether the leader knows the time as far as it will. */
  boolean clockSettled() {
    return log.leader().node.clock.settled();
  }

  private int retainMillis() {
    return around.drops() ? RETAIN_OFTEN_MILLIS : RETAIN_MILLIS;
  }

  /** Drops messages that are too old, which none is, or that are consumed. */
  private void retain() {
    if (led() && around.drops() && around.faulty()) {
      state().tables().shards().forEach(each -> consume(each.getKey(), each.getValue().end()));
      retainAt(clockMillis());
    } else if (led() && (around.retains() || state().tables().timeStandsStill(clockMillis()))) {
      long now = clockMillis();
      if (bug.logTimeIsUnbounded()) {
        long steps = Math.min(STEPS, (now - retainedMillis) / LogTime.STEP_MILLIS_MAX);
        for (long step = steps; step > 0; step--) {
          retainAt(now - step * LogTime.STEP_MILLIS_MAX);
        }
      }
      retainAt(now);
      retainedMillis = now;
    }
    time.in(retainMillis(), null, null, this::retain);
  }

  /** The quick group has consumed what there is. */
  private void consume(Shard shard, long end) {
    if (!around.reads(World.QUICK, shard)) {
      return;
    }
    Lease lease = state().tables().lease(World.QUICK, shard);
    DataCommand command =
        lease != null && lease.owned()
            ? Commands.commit(World.QUICK, shard, lease.epoch(), end)
            : Commands.grant(
                World.QUICK, shard, "q", "q1", lease == null ? 0 : lease.epoch(), StartAt.EARLIEST);
    append(Entry.of(command, clockMillis()), (state, reply) -> {});
  }

  private void retainAt(long clockMillis) {
    append(Entry.of(new DataCommand.Retain(), clockMillis), this::retained);
  }

  private void retained(DataState state, ByteBuffer reply) {
    state
        .tables()
        .shards()
        .forEach(
            each -> {
              long start = each.getValue().start();
              if (start > 0 && !around.mayDrop(each.getKey())) {
                throw new SimulationFailure("dropped before its time: the start of " + each);
              }
              if (!around.mayDropUnread(each.getKey())) {
                around.ledgers().values().forEach(ledger -> ledger.keptFrom(each.getKey(), start));
              }
            });
  }

  /** Another leader is chosen, a node goes down for a while, or a copy moves to another node. */
  void fault() {
    switch (random.nextInt(4)) {
      case 0 -> log.restartAny();
      case 1 -> log.moveAny();
      default -> log.changeLeader();
    }
    leaderMayChange();
  }

  /** The copy on a node ends and begins again. */
  void restartOn(SimNode node) {
    log.restartOn(node);
    leaderMayChange();
  }

  /** Another is chosen, if that node leads. */
  void leadsNoMore(SimNode node) {
    if (log.leader().node == node) {
      log.changeLeader();
      leaderMayChange();
    }
  }

  /** One of the copies moves to another node. */
  void moveAny() {
    log.moveAny();
  }

  private void leaderMayChange() {
    if (!led()) {
      fetches.leaderChanges();
    }
  }

  private void elected() {
    changed.clear();
    if (timer != null) {
      timer.elected();
    }
  }

  /** Whether all replicas have applied everything. */
  boolean allApplied() {
    return log.allApplied();
  }

  /** Fails if replicas differ. */
  void compare() {
    log.compare();
  }

  private DataState stateRead() {
    return around.faulty() && random.nextInt(25) == 0 ? log.any().state() : state();
  }

  private static RefusedException notLeader() {
    return new RefusedException(Refusal.NOT_LEADER, "");
  }

  // ---- Writing

  /** At once, everywhere: for the beginning. */
  void begin(DataCommand command) {
    log.begin(Entry.of(command, clockMillis()));
  }

  /** The highest epoch of a lease that was removed. */
  long epochFloor() {
    return log.newest().state().tables().epochFloor();
  }

  /** What brokers tell each other to do with shards; they do it again until it is done. */
  void manage(DataCommand command, Runnable done) {
    Runnable again = () -> time.in(AGAIN_MILLIS, null, null, () -> manage(command, done));
    if (!led()) {
      again.run();
      return;
    }
    boolean[] over = new boolean[1];
    log.append(
        Entry.of(bug.managed(command), clockMillis()),
        null,
        new SimLog.Writer() {
          private final Set<LeaseKey> without = new HashSet<>();
          private final Set<Shard> missing = new HashSet<>();

          @Override
          public void before(DataState state) {
            if (command instanceof DataCommand.OpenShards open) {
              for (int number : open.shards()) {
                Shard shard = new Shard(open.topicId(), number);
                around.ledgers().keySet().stream()
                    .filter(group -> state.tables().lease(group, shard) == null)
                    .forEach(group -> without.add(new LeaseKey(shard, group)));
                if (state.tables().shard(shard) == null) {
                  missing.add(shard);
                }
              }
            }
          }

          @Override
          public void applied(DataState state, ByteBuffer reply) {
            missing.forEach(logs::made);
            for (LeaseKey key : without) {
              Lease lease = state.tables().lease(key.group(), key.shard());
              if (lease != null) {
                around.ledgers().get(key.group()).opened(key.shard(), null, lease);
              }
            }
            if (!over[0]) {
              over[0] = true;
              done.run();
            }
            wake();
          }

          @Override
          public void unknown() {
            if (!over[0]) {
              over[0] = true;
              again.run();
            }
          }
        });
  }

  /**
   * A command about a lease of {@code group} on {@code shard}.
   *
   * @param sender run of the consumer that sent it, or null
   */
  void submit(
      String group, Shard shard, DataCommand command, String sender, Network.Answer<Reply> answer) {
    DataCommand seen = bug.command(command, whole(state(), group, shard));
    append(Entry.of(seen, clockMillis()), ofLease(group, shard, command, sender, answer));
  }

  /**
   * Positions of one or several shards.
   *
   * @param sender run of the consumer that sent it
   */
  void commit(DataCommand command, String sender, Network.Answer<Reply> answer) {
    if (command instanceof DataCommand.Commit one) {
      submit(one.group(), one.shard(), one, sender, answer);
      return;
    }
    List<CommitMany.Position> positions = ((CommitMany) command).positions();
    List<CommitMany.Position> seen = new ArrayList<>();
    for (CommitMany.Position each : positions) {
      Lease lease = whole(state(), each.group(), each.shard());
      DataCommand.Commit altered = (DataCommand.Commit) bug.command(each.command(), lease);
      seen.add(
          new CommitMany.Position(
              altered.group(),
              altered.shard(),
              altered.epoch(),
              altered.offset(),
              altered.stateOffset()));
    }
    append(Entry.of(new CommitMany(seen), clockMillis()), ofPositions(positions, sender, answer));
  }

  /** Steps of several shards, as a dispatcher asks for them. */
  void take(List<DataCommand.Step> steps, Network.Answer<List<Reply>> answer) {
    List<DataCommand.Step> seen = new ArrayList<>();
    for (DataCommand.Step each : steps) {
      Lease lease = whole(state(), each.group(), each.shard());
      seen.add((DataCommand.Step) bug.command(each.command(), lease));
    }
    append(Entry.of(new DataCommand.TakeSteps(seen), clockMillis()), ofSteps(steps, answer));
  }

  /** Drops leases of a group, as a dispatcher asks all data groups to do. */
  void forget(DataCommand.ForgetLeases command, Network.Answer<Reply> answer) {
    String of = command.group();
    long highest = 0;
    for (LeaseKey key : state().tables().leasesOf(of)) {
      highest = Math.max(highest, state().tables().lease(of, key.shard()).epoch());
    }
    long limit = bug.forgottenUpTo(command, highest);
    DataCommand seen = new DataCommand.ForgetLeases(of, limit, command.topicId());
    append(Entry.of(seen, clockMillis()), ofForgetting(command, answer));
  }

  /** Messages, which may be to be kept until they are due. */
  void append(AppendBody.Item item, Network.Answer<AppendResults.Result> answer) {
    byte[] entry = Rig.appendEntry(clockMillis(), item);
    append(entry, item.delayed() ? timer.keeping(item, answer) : ofMessages(item, answer));
  }

  /** Batches of what handlers publish, for any shards of this group. */
  void append(byte[] body, Network.Answer<ByteBuffer> answer) {
    List<AppendBody.Item> asked = AppendBody.read(ByteBuffer.wrap(body.clone()));
    List<AppendBody.Item> items = bug.published(asked, this::producerEpoch);
    byte[] entry = Rig.appendEntry(clockMillis(), items.toArray(AppendBody.Item[]::new));
    append(entry, ofOutputs(items, answer));
  }

  /** Cancels a delayed message, as the product's leaders do. */
  void cancel(Shard shard, DelayedId id, Network.Answer<Reply> answer) {
    DelayedKey key = new DelayedKey(shard, id.dueMillis(), id.serial());
    byte[] row = state().read(store -> store.get(Store.Table.DELAYED, key.bytes()));
    DelayedBatch batch = row == null ? null : DelayedBatch.decode(row);
    boolean others = batch != null && batch.has(id.position()) && batch.batch().count() > 1;
    Batch rest = null;
    byte[] header = null;
    if (others) {
      byte[] bytes = state().bytes(batch.place(), batch.batch().length());
      rest = batch.without(id.position(), Batch.whole(ByteBuffer.wrap(bytes)));
      header = new byte[BatchHeader.BYTES];
      rest.bytes().get(0, header);
    }
    DataCommand command =
        new DataCommand.CancelDelayed(
            shard,
            id.dueMillis(),
            id.serial(),
            id.position(),
            batch == null ? -1 : batch.place().index(),
            batch == null ? 0 : batch.place().at(),
            header);
    append(
        Entry.of(command, clockMillis()),
        rest == null ? null : rest.bytes(),
        new SimLog.Writer() {
          @Override
          public void applied(DataState state, ByteBuffer reply) {
            Reply decoded = ReplyCodec.decode(reply);
            if (decoded instanceof Reply.Refused no) {
              answer.refuse(no.exception());
            } else {
              answer.give(decoded);
            }
          }

          @Override
          public void unknown() {
            answer.never();
          }
        });
  }

  /** By the leader, or by one that does not know yet that it leads no more. */
  void append(byte[] entry, SimLog.Writer writer) {
    append(entry, null, writer);
  }

  /**
   * @param body that the log keeps apart from a command; null: there is none
   */
  private void append(byte[] entry, ByteBuffer body, SimLog.Writer writer) {
    if (!led() && random.nextInt(4) == 0) {
      throw notLeader();
    }
    log.append(entry, body, writer);
  }

  /** Tells the sender what the leader answers. */
  private abstract class Answered<T> implements SimLog.Writer {
    private final Network.Answer<T> answer;

    Answered(Network.Answer<T> answer) {
      this.answer = answer;
    }

    abstract T reply(DataState state, ByteBuffer bytes);

    @Override
    public final void applied(DataState state, ByteBuffer bytes) {
      answer.give(reply(state, bytes));
      wake();
    }

    @Override
    public final void unknown() {
      answer.never();
    }
  }

  private SimLog.Writer ofLease(
      String group, Shard shard, DataCommand command, String sender, Network.Answer<Reply> answer) {
    return new Answered<>(answer) {
      private Lease before;

      @Override
      public void before(DataState state) {
        before = whole(state, group, shard);
      }

      @Override
      Reply reply(DataState state, ByteBuffer bytes) {
        Reply reply = ReplyCodec.decode(bytes);
        time.note(() -> command + " of " + sender + " -> " + reply);
        Ledger ledger = around.ledgers().get(group);
        if (ledger != null
            && command instanceof DataCommand.RecordOutcomes c
            && reply instanceof Reply.OfOffsets no) {
          ledger.recorded(
              shard,
              c,
              no.offsets(),
              failures(state, group, shard).deadLetters(0, LETTERS_MAX, 1 << 20).letters(),
              offset -> around.deadly(shard, offset));
        }
        if (ledger != null) {
          ledger.applied(shard, command, sender, before, whole(state, group, shard), reply);
          taken(command, before, reply);
        }
        return reply;
      }
    };
  }

  private void taken(DataCommand command, Lease before, Reply reply) {
    boolean granted = command instanceof DataCommand.Grant && reply instanceof Reply.OfLease;
    if (granted && before != null && before.owned()) {
      around.taken(before);
    }
  }

  private SimLog.Writer ofSteps(List<DataCommand.Step> steps, Network.Answer<List<Reply>> answer) {
    return new Answered<>(answer) {
      private final List<Lease> before = new ArrayList<>();

      @Override
      public void before(DataState state) {
        steps.forEach(each -> before.add(whole(state, each.group(), each.shard())));
      }

      @Override
      List<Reply> reply(DataState state, ByteBuffer bytes) {
        List<Reply> replies = ((Reply.OfSteps) ReplyCodec.decode(bytes)).replies();
        time.note(() -> steps + " -> " + replies);
        for (int i = 0; i < steps.size(); i++) {
          DataCommand.Step each = steps.get(i);
          Ledger ledger = around.ledgers().get(each.group());
          if (ledger == null) {
            continue;
          }
          Lease after = whole(state, each.group(), each.shard());
          ledger.applied(each.shard(), each.command(), null, before.get(i), after, replies.get(i));
          taken(each.command(), before.get(i), replies.get(i));
        }
        return replies;
      }
    };
  }

  private SimLog.Writer ofPositions(
      List<CommitMany.Position> positions, String sender, Network.Answer<Reply> answer) {
    return new Answered<>(answer) {
      private final List<Lease> before = new ArrayList<>();

      @Override
      public void before(DataState state) {
        positions.forEach(each -> before.add(whole(state, each.group(), each.shard())));
      }

      @Override
      Reply reply(DataState state, ByteBuffer bytes) {
        Reply reply = ReplyCodec.decode(bytes);
        time.note(() -> positions + " of " + sender + " -> " + reply);
        Map<Integer, Reply> refused = new HashMap<>();
        ((Reply.OfCommits) reply)
            .refused()
            .forEach(
                each -> refused.put(each.index(), Reply.refused(each.refusal(), each.detail())));
        for (int i = 0; i < positions.size(); i++) {
          CommitMany.Position each = positions.get(i);
          Ledger ledger = around.ledgers().get(each.group());
          ledger.applied(
              each.shard(),
              each.command(),
              sender,
              before.get(i),
              whole(state, each.group(), each.shard()),
              refused.getOrDefault(i, Reply.DONE));
        }
        return reply;
      }
    };
  }

  private SimLog.Writer ofForgetting(
      DataCommand.ForgetLeases command, Network.Answer<Reply> answer) {
    return new Answered<>(answer) {
      private final List<Lease> before = new ArrayList<>();

      @Override
      public void before(DataState state) {
        for (LeaseKey key : state.tables().leasesOf(command.group())) {
          before.add(state.tables().lease(key.group(), key.shard()));
        }
      }

      @Override
      Reply reply(DataState state, ByteBuffer bytes) {
        Reply reply = ReplyCodec.decode(bytes);
        time.note(() -> command + " -> " + reply);
        for (Lease lease : before) {
          Ledger ledger = around.ledgers().get(lease.group());
          if (ledger != null && state.tables().lease(lease.group(), lease.shard()) == null) {
            ledger.forgotten(lease.shard(), command, lease);
          }
        }
        return reply;
      }
    };
  }

  private SimLog.Writer ofMessages(
      AppendBody.Item item, Network.Answer<AppendResults.Result> answer) {
    return new Answered<>(answer) {
      private long end;

      @Override
      public void before(DataState state) {
        ShardRecord shard = state.tables().shard(item.shard());
        end = shard == null ? 0 : shard.end();
      }

      @Override
      AppendResults.Result reply(DataState state, ByteBuffer reply) {
        AppendResults.Result result = AppendResults.decode(reply).results().get(0);
        time.note(() -> "batch for " + item.shard() + " -> " + result);
        if (result.ok()) {
          long now = state.tables().shard(item.shard()).end();
          around.arrivals().taken(item, end, now, result.value());
        }
        return result;
      }
    };
  }

  private SimLog.Writer ofOutputs(List<AppendBody.Item> items, Network.Answer<ByteBuffer> answer) {
    return new Answered<>(answer) {

      @Override
      ByteBuffer reply(DataState state, ByteBuffer reply) {
        List<AppendResults.Result> results = AppendResults.decode(reply.duplicate()).results();
        for (int i = 0; i < items.size(); i++) {
          Shard shard = items.get(i).shard();
          Batch batch = items.get(i).batch();
          AppendResults.Result result = results.get(i);
          time.note(
              () ->
                  "output to "
                      + shard
                      + " of producer "
                      + batch.producerId()
                      + "@"
                      + batch.producerEpoch()
                      + " from "
                      + batch.firstSequence()
                      + " -> "
                      + result);
          if (result.ok() && result.value() != AppendResults.Result.OFFSET_FORGOTTEN) {
            around.arrivals().published(shard, batch, result.value());
          }
        }
        return reply;
      }
    };
  }

  private int producerEpoch(long id) {
    ProducerRecord producer = state().tables().producer(id);
    return producer == null ? 0 : producer.epoch();
  }

  private static StoredFailures failures(DataState state, String group, Shard shard) {
    return state.read(store -> new StoredFailures(store, kept(state), new LeaseKey(shard, group)));
  }

  /** Messages that a node would keep if retention had dropped all batches. */
  private static BatchSource kept(DataState state) {
    return new BatchSource() {
      private BodyUse.Use use;

      @Override
      public byte[] read(BatchPlace place, int bytes) {
        return part(place) == null ? state.bytes(place, bytes) : null;
      }

      @Override
      public KeptPart part(BatchPlace place) {
        try {
          use = use == null ? useWithoutIndex(state) : use;
          if (!use.any(place.index())) {
            throw new SimulationFailure("a failure refers to a body that nobody keeps: " + place);
          }
          ByteBuffer part =
              use.all(place.index())
                  ? null
                  : use.part(place.index(), state.bodies().read(place.index()), false);
          return part == null ? null : KeptPart.decode(part);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }

  private static BodyUse.Use useWithoutIndex(DataState state) throws IOException {
    Segments.Info all = new Segments.Info(0, 0, state.appliedIndex(), 0, true);
    return BodyUse.of(
            table -> withoutIndex(state, table), List.of(all), 1_000, index -> 1, () -> {})
        .segments()
        .get(0);
  }

  private static Store.Cursor withoutIndex(DataState state, Store.Table table) {
    byte[] end = table == Store.Table.INDEX ? Keys.first() : Keys.last();
    return state.read(store -> store.scan(table, Keys.first(), end));
  }

  FailureCounts stand(String group, Shard shard) {
    return state().tables().failures(new LeaseKey(shard, group));
  }

  /** Retries that are due. */
  void fetchRetries(RetryRequest request, Network.Answer<RetryAnswer> answer) {
    if (!led()) {
      throw notLeader();
    }
    Lease lease = state().tables().lease(request.group(), request.shard());
    if (lease == null || !lease.ownedAt(request.epoch())) {
      throw new RefusedException(Refusal.FENCED, "epoch " + request.epoch() + ": " + lease);
    }
    boolean paused = around.isPaused(request.group(), request.shard());
    RetryAnswer found =
        failures(state(), request.group(), request.shard())
            .answer(
                paused ? request.withoutMessages() : request,
                state().tables().timeAt(clockMillis()).millis());
    if (paused && found.nextInMillis() == 0) {
      found = new RetryAnswer(PAUSE_LOOK_MILLIS, found.due(), found.known(), found.batches());
    }
    answer.give(bug.retries(RetryAnswer.CODEC.decode(RetryAnswer.CODEC.encode(found))));
  }

  private static Lease whole(DataState state, String group, Shard shard) {
    Lease lease = state.tables().lease(group, shard);
    return lease == null || lease.state() == null ? lease : state.leaseWithState(group, shard);
  }

  // ---- Reading

  /** As it is by all that was applied. */
  Lease lease(String group, Shard shard) {
    return log.newest().state().tables().lease(group, shard);
  }

  void readLease(String group, Shard shard, Network.Answer<Lease> answer) {
    if (!led()) {
      throw notLeader();
    }
    DataState state = stateRead();
    if (state.tables().shard(shard) == null) {
      throw new RefusedException(Refusal.UNKNOWN_SHARD, "there is no shard " + shard);
    }
    Lease lease = state.tables().lease(group, shard);
    if (lease == null) {
      throw new RefusedException(Refusal.UNKNOWN_GROUP, "no lease on " + shard);
    }
    answer.give(whole(state, group, shard));
  }

  /** Shards with the leases of {@code group}, or of all if null. */
  List<ShardStatus> statuses(String group) {
    DataState state = stateRead();
    List<ShardStatus> statuses = new ArrayList<>();
    state
        .tables()
        .shards()
        .forEach(
            each -> {
              ShardRecord record = each.getValue();
              List<Lease> leases =
                  state.tables().leasesOn(each.getKey()).stream()
                      .filter(lease -> group == null || lease.group().equals(group))
                      .map(Lease::withoutState)
                      .toList();
              statuses.add(
                  new ShardStatus(
                      each.getKey(),
                      record.start(),
                      record.end(),
                      record.bytes(),
                      record.dropped(),
                      leases,
                      figures(state, each.getKey()),
                      delayed(state, each.getKey())));
            });
    return statuses;
  }

  private static List<FailureFigures> figures(DataState state, Shard shard) {
    List<FailureFigures> figures = new ArrayList<>();
    for (LeaseKey key : state.tables().failuresOn(shard)) {
      FailureCounts counts = state.tables().failures(key);
      figures.add(
          new FailureFigures(
              key.group(),
              shard,
              counts.waiting(),
              counts.parked(),
              counts.held(),
              counts.dead(),
              counts.bytes()));
    }
    return figures;
  }

  private static ShardStatus.Delayed delayed(DataState state, Shard shard) {
    DelayCounts counts = state.tables().delays().of(shard);
    return new ShardStatus.Delayed(counts.messages(), counts.bytes(), counts.dueMillis());
  }

  /** The dead letters of a group, as the leader has them. */
  List<DeadLetter> deadLetters(String group, Shard shard) {
    return failures(state(), group, shard).deadLetters(0, LETTERS_MAX, 1 << 20).letters();
  }

  /** A pause has ended, perhaps. */
  void resumed() {
    fetches.wakeAll();
  }

  void fetch(FetchRequest request, Network.Answer<FetchAnswer> answer) {
    if (!led()) {
      if (random.nextBoolean()) {
        throw notLeader();
      }
      answer.never();
      return;
    }
    fetches.fetch(stateRead(), request, answer);
  }

  /** Looks again at the fetches that wait for what has changed. */
  void wake() {
    if (!changed.isEmpty()) {
      fetches.wake(changed);
      changed.clear();
    }
  }
}
