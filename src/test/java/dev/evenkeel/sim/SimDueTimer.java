package dev.evenkeel.sim;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.serve.DueBench;
import dev.evenkeel.broker.state.TailCache;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.wire.AppendBody;
import dev.evenkeel.wire.AppendResults;
import dev.evenkeel.wire.Entry;
import dev.evenkeel.wire.ReplyCodec;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * The delayed messages of a data group: its leader delivers them by the production schedule, and
 * each leader has its own clock.
 */
final class SimDueTimer {
  /** What the data group does with an entry. */
  interface Log {
    ByteBuffer append(byte[] entry);
  }

  private final Timeline time;
  private final SplittableRandom random;
  private final Delays delays;
  private final DataGroup group;
  private final DataState state;
  private final Log log;
  private final Bug bug;
  private long lastMillis;
  private long looks;
  private boolean first = true;

  /** What was delivered last. */
  private AppendBody.Item delivered;

  SimDueTimer(
      Timeline time,
      SplittableRandom random,
      Delays delays,
      DataGroup group,
      DataState state,
      Log log,
      Bug bug) {
    this.time = time;
    this.random = random;
    this.delays = delays;
    this.group = group;
    this.state = state;
    this.log = log;
    this.bug = bug;
  }

  // ---- Keeping them

  /** Keeps a batch until it is due. */
  AppendResults.Result keep(AppendBody.Item item) {
    Shard shard = item.shard();
    long before = state.tables().delays().of(shard).messages();
    ByteBuffer reply = log.append(Rig.appendEntry(group.clockMillis(), item));
    AppendResults.Result result = AppendResults.decode(reply).results().get(0);
    boolean taken = state.tables().delays().of(shard).messages() > before;
    String end = taken ? " waits" : " -> " + result;
    time.note(() -> "delayed batch of " + shard + ", due " + item.dueMillis() + end);
    if (taken) {
      delays.taken(item.batch());
      tell();
    }
    return result;
  }

  /** Something may be due earlier. */
  private void tell() {
    if (first || bug.newLeaderLooks()) {
      lookIn(0);
    }
  }

  private void lookIn(long millis) {
    long look = ++looks;
    time.in(
        millis,
        null,
        null,
        () -> {
          if (look == looks && group.led()) {
            look();
          }
        });
  }

  private void look() {
    long next = state.tables().delays().nextDueMillis();
    if (!group.clockSettled()) {
      lookIn(1_000);
      return;
    }
    long wait = DueBench.waitMillis(group.clockMillis(), next, time.now() - lastMillis);
    if (wait == 0) {
      lastMillis = time.now();
      deliver(group.clockMillis());
      lookIn(1);
    } else if (wait != DueBench.NOTHING) {
      lookIn(wait);
    }
  }

  // ---- Delivering them

  /**
   * @param clock of the leader that does it
   */
  private void deliver(long clock) {
    DataCommand command = new DataCommand.DeliverDue(1 + random.nextInt(3), 1 << 20);
    Map<Shard, Long> ends = new TreeMap<>();
    for (Shard shard : state.tables().delays().dueAt(bug.dueClock(clock))) {
      ends.put(shard, state.tables().shard(shard).end());
    }
    Reply reply = ReplyCodec.decode(log.append(Entry.of(command, bug.dueClock(clock))));
    time.note(() -> command + " at " + clock + " -> " + reply);
    ends.forEach(
        (shard, end) -> {
          long now = state.tables().shard(shard).end();
          for (TailCache.Cached each :
              state.tail().read(shard, end, now, 1 << 20, Integer.MAX_VALUE)) {
            delivered = new AppendBody.Item(shard, each.batch());
            delays.delivered(shard, each.batch(), each.baseOffset(), clock);
          }
        });
    group.wake();
  }

  /**
   * Another leads from {@code millis} from now on. What the one that goes has begun to deliver may
   * be in the log of the next one.
   */
  void leaderChanges(long millis) {
    long clock = group.clockMillis();
    looks++;
    if (random.nextBoolean()) {
      time.in(millis, null, "a former leader's delivery", () -> deliver(clock));
    }
    if (delivered != null && bug.newLeaderDeliversAgain()) {
      AppendBody.Item again = delivered;
      time.in(millis, null, null, () -> deliverAgain(again));
    }
    time.in(
        millis,
        null,
        null,
        () -> {
          first = false;
          tell();
        });
  }

  private void deliverAgain(AppendBody.Item item) {
    if (state.tables().shard(item.shard()) != null) {
      long end = state.tables().shard(item.shard()).end();
      log.append(Rig.appendEntry(group.clockMillis(), item));
      delays.delivered(item.shard(), item.batch(), end, Long.MAX_VALUE);
    }
  }
}
