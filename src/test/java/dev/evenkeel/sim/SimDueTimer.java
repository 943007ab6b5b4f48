package dev.evenkeel.sim;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.serve.DueBench;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * The delayed messages of a data group: its leader delivers them by the production schedule, and
 * each leader has its own clock.
 */
final class SimDueTimer {
  private final Timeline time;
  private final SplittableRandom random;
  private final Arrivals arrivals;
  private final DataGroup group;
  private final Bug bug;
  private long lastMillis;
  private long looks;
  private boolean first = true;

  /** What was delivered last. */
  private AppendBody.Item delivered;

  SimDueTimer(Timeline time, SplittableRandom random, Arrivals arrivals, DataGroup group, Bug bug) {
    this.time = time;
    this.random = random;
    this.arrivals = arrivals;
    this.group = group;
    this.bug = bug;
  }

  // ---- Keeping them

  /** Keeps a batch until it is due. */
  SimLog.Writer keeping(AppendBody.Item item, Network.Answer<AppendResults.Result> answer) {
    Shard shard = item.shard();
    return new SimLog.Writer() {
      private long before;

      @Override
      public void before(DataState state) {
        before = state.tables().delays().of(shard).messages();
      }

      @Override
      public void applied(DataState state, ByteBuffer reply) {
        AppendResults.Result result = AppendResults.decode(reply).results().get(0);
        boolean taken = state.tables().delays().of(shard).messages() > before;
        String end = taken ? " waits" : " -> " + result;
        time.note(() -> "delayed batch of " + shard + ", due " + item.dueMillis() + end);
        if (taken) {
          arrivals.delayed(item.batch());
          tell();
        }
        answer.give(result);
      }

      @Override
      public void unknown() {
        answer.never();
      }
    };
  }

  /** Something may be due earlier. */
  void tell() {
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
    long next = group.state().tables().delays().nextDueMillis();
    if (!group.clockSettled()) {
      lookIn(1_000);
      return;
    }
    long wait = DueBench.waitMillis(group.clockMillis(), next, time.now() - lastMillis);
    if (wait == 0) {
      lastMillis = time.now();
      deliver(group.clockMillis());
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
    group.append(
        Entry.of(command, bug.dueClock(clock)),
        new SimLog.Writer() {
          @Override
          public void before(DataState state) {
            for (Shard shard : state.tables().delays().dueAt(bug.dueClock(clock))) {
              ends.put(shard, state.tables().shard(shard).end());
            }
          }

          @Override
          public void applied(DataState state, ByteBuffer reply) {
            time.note(() -> command + " at " + clock + " -> " + ReplyCodec.decode(reply));
            ends.forEach((shard, end) -> delivered(state, shard, end, clock));
            group.wake();
            lookIn(1);
          }
        });
  }

  private void delivered(DataState state, Shard shard, long from, long clock) {
    for (IndexEntry entry : entries(state, shard, from)) {
      Batch batch = Batch.next(ByteBuffer.wrap(state.bytes(entry)));
      delivered = new AppendBody.Item(shard, batch);
      arrivals.delivered(shard, batch, entry.base(), clock);
    }
  }

  private static List<IndexEntry> entries(DataState state, Shard shard, long from) {
    return state.read(
        store -> {
          List<IndexEntry> entries = new ArrayList<>();
          byte[] first = Keys.batch(shard, from);
          byte[] last = Keys.batch(shard, Long.MAX_VALUE);
          try (Store.Cursor cursor = store.scan(Store.Table.INDEX, first, last)) {
            while (cursor.next()) {
              entries.add(IndexEntry.decode(cursor.key(), cursor.value()));
            }
          }
          return entries;
        });
  }

  /** Another leads. What the one before it has begun to deliver may be in its log. */
  void elected() {
    looks++;
    first = false;
    if (delivered != null && bug.newLeaderDeliversAgain()) {
      deliverAgain(delivered);
    }
    tell();
  }

  private void deliverAgain(AppendBody.Item item) {
    if (group.state().tables().shard(item.shard()) == null) {
      return;
    }
    group.append(
        Rig.appendEntry(group.clockMillis(), item),
        (state, reply) -> {
          long end = state.tables().shard(item.shard()).end() - item.batch().count();
          arrivals.delivered(item.shard(), item.batch(), end, Long.MAX_VALUE);
        });
  }
}
