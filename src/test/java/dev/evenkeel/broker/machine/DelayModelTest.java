package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.DelayCounts;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/**
 * Delayed batches among others, deliveries of every size, cancellations and restarts, against the
 * plainest model there is: of each shard, those that wait in the order of time and sending.
 */
class DelayModelTest {
  private static final List<Shard> SHARDS = List.of(Rig.SHARD, Rig.OTHER);

  /**
   * @param payloads of the messages that are left, by their positions
   * @param bytes of a batch of these
   */
  private record Waiting(
      long due, int sent, DelayedKey key, SortedMap<Integer, String> payloads, ByteBuffer bytes) {}

  @Property(tries = 200)
  void eachComesOnceWhenItIsDueInTheOrderOfTimeAndSending(
      @ForAll @Size(max = 60) List<Integer> numbers) throws IOException {
    new World().run(numbers);
  }

  private static final class World {
    private final Rig rig = Rig.opened();

    /** A replica that never restarts. */
    private final Rig other = new Rig();

    private final Map<Shard, List<Waiting>> waiting = new HashMap<>();
    private final Map<Shard, List<ByteBuffer>> logs = new HashMap<>();
    private final List<DelayedKey> keys = new ArrayList<>();
    private int sent;

    World() {
      rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.CANCELLING));
      for (Shard shard : SHARDS) {
        waiting.put(shard, new ArrayList<>());
        logs.put(shard, new ArrayList<>());
      }
    }

    void run(List<Integer> numbers) throws IOException {
      for (int number : numbers) {
        Dice dice = new Dice(number);
        switch (dice.upTo(11)) {
          case 0 -> rig.now += dice.upTo(60);
          case 8, 9, 10 -> cancel(dice);
          case 1, 2 -> deliver(dice);
          case 3 -> reopen();
          default -> append(dice);
        }
        check();
      }
      rig.now += 1_000;
      deliverSome(Integer.MAX_VALUE);
      check();
      assertThat(waiting.values()).allMatch(List::isEmpty);
      while (other.log.size() < rig.log.size()) {
        other.follow(rig);
      }
      assertThat(other.dump()).isEqualTo(rig.dump());
      assertThat(other.data.digest().sum()).isEqualTo(rig.data.digest().sum());
    }

    private void append(Dice dice) {
      List<AppendBody.Item> items = new ArrayList<>();
      Map<Integer, Integer> numbers = new TreeMap<>();
      for (int i = dice.upTo(4); i >= 0; i--) {
        Shard shard = SHARDS.get(dice.upTo(2));
        Batch batch = Rig.batch(0, 0, sent, 1 + dice.upTo(3));
        // Few times, so that many are due at one.
        long due = dice.upTo(4) == 0 ? 0 : rig.now / 10 * 10 + 10 * (dice.upTo(6) - 1);
        items.add(new AppendBody.Item(shard, batch, due));
        if (due == 0) {
          logs.get(shard).add(batch.bytes());
        } else {
          numbers.put(items.size() - 1, sent);
        }
        sent++;
      }
      List<Result> results = rig.append(items.toArray(new AppendBody.Item[0])).results();
      numbers.forEach((i, number) -> waits(items.get(i), number, results.get(i)));
    }

    private void waits(AppendBody.Item item, int number, Result result) {
      var key = new DelayedKey(item.shard(), item.dueMillis(), Result.serial(result.value()));
      assertThat(keys).as("an id of its own").doesNotContain(key);
      keys.add(key);
      SortedMap<Integer, String> payloads = new TreeMap<>();
      payloads(item.batch()).forEach(payload -> payloads.put(payloads.size(), payload));
      waiting
          .get(item.shard())
          .add(new Waiting(item.dueMillis(), number, key, payloads, item.batch().bytes()));
    }

    private static List<String> payloads(Batch batch) {
      List<String> payloads = new ArrayList<>();
      BatchReader reader = batch.reader(0);
      while (reader.hasNext()) {
        payloads.add(new String(reader.next().payload(), StandardCharsets.UTF_8));
      }
      return payloads;
    }

    /** A message that waits, or one that does not any more, or never was. */
    private void cancel(Dice dice) {
      if (keys.isEmpty()) {
        return;
      }
      DelayedKey key = keys.get(Math.max(dice.upTo(keys.size()), dice.upTo(keys.size())));
      int position = dice.upTo(4);
      List<Waiting> all = waiting.get(key.shard());
      Waiting found = all.stream().filter(w -> w.key().equals(key)).findFirst().orElse(null);
      Reply reply = Cancels.cancel(rig, key, position);
      if (found == null || !found.payloads().containsKey(position)) {
        assertThat(((Reply.Refused) reply).refusal()).isEqualTo(Refusal.UNKNOWN_MESSAGE);
        return;
      }
      assertThat(reply).isEqualTo(Reply.DONE);
      found.payloads().remove(position);
      all.remove(found);
      DelayedBatch left = Cancels.find(rig, key);
      assertThat(left == null).isEqualTo(found.payloads().isEmpty());
      if (left != null) {
        Batch bytes = Cancels.bytes(rig, left);
        assertThat(payloads(bytes)).containsExactlyElementsOf(found.payloads().values());
        all.add(new Waiting(found.due(), found.sent(), key, found.payloads(), bytes.bytes()));
      }
    }

    private void deliver(Dice dice) {
      deliverSome(1 + dice.upTo(6));
    }

    /** As many as were asked for and are due; of each shard, the first ones. */
    private void deliverSome(int batchesMax) {
      Map<Shard, Integer> before = new HashMap<>();
      SHARDS.forEach(shard -> before.put(shard, stored(shard).size()));
      Reply reply = rig.run(new DataCommand.DeliverDue(batchesMax, 1 << 20));
      long due =
          waiting.values().stream().flatMap(List::stream).filter(w -> w.due() <= rig.now).count();
      long moved = 0;
      long messages = 0;
      for (Shard shard : SHARDS) {
        List<Waiting> inOrder = waiting.get(shard);
        inOrder.sort(Comparator.comparingLong(Waiting::due).thenComparingInt(Waiting::sent));
        List<ByteBuffer> stored = stored(shard);
        for (ByteBuffer each : stored.subList(before.get(shard), stored.size())) {
          Waiting next = inOrder.remove(0);
          assertThat(next.due()).as("not before it is due").isLessThanOrEqualTo(rig.now);
          assertThat(each).isEqualTo(next.bytes());
          logs.get(shard).add(each);
          messages += Batch.next(each.duplicate()).count();
          moved++;
        }
      }
      assertThat(moved).isEqualTo(Math.min(batchesMax, due));
      assertThat(((Reply.OfDelivered) reply).messages()).isEqualTo(messages);
    }

    private void reopen() throws IOException {
      rig.data.close();
      rig.data = States.data(rig.directory.resolve("d0"), rig.disk::open, rig.bodies, 1 << 20);
      rig.data.open();
    }

    private void check() {
      long next = Long.MAX_VALUE;
      for (Shard shard : SHARDS) {
        assertThat(stored(shard)).isEqualTo(logs.get(shard));
        DelayCounts stand = rig.tables().delays().of(shard);
        List<Waiting> all = waiting.get(shard);
        assertThat(stand.batches()).isEqualTo(all.size());
        assertThat(stand.messages())
            .isEqualTo(all.stream().mapToLong(w -> w.payloads().size()).sum());
        assertThat(stand.bytes()).isEqualTo(all.stream().mapToLong(w -> w.bytes().limit()).sum());
        long due = all.stream().mapToLong(Waiting::due).min().orElse(Long.MAX_VALUE);
        assertThat(stand.dueMillis()).isEqualTo(due);
        next = Math.min(next, due);
      }
      assertThat(rig.tables().delays().nextDueMillis()).isEqualTo(next);
    }

    private List<ByteBuffer> stored(Shard shard) {
      return rig.data.read(
          store -> {
            List<ByteBuffer> batches = new ArrayList<>();
            byte[] to = Keys.batch(shard, Long.MAX_VALUE);
            try (Store.Cursor cursor = store.scan(Store.Table.INDEX, Keys.batch(shard, 0), to)) {
              while (cursor.next()) {
                IndexEntry entry = IndexEntry.decode(cursor.key(), cursor.value());
                batches.add(ByteBuffer.wrap(rig.data.bytes(entry)));
              }
            }
            return batches;
          });
    }
  }
}
