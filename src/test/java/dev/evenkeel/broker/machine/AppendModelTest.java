package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/** Appends in any order, with repeats, gaps and epochs, against the plainest model there is. */
class AppendModelTest {
  private record Taken(long first, int count, long base) {}

  /** What one producer wrote into one shard in one epoch. */
  private record Written(long producer, int epoch, Shard shard) {}

  private static final class Model {
    final Map<Shard, List<ByteBuffer>> logs = new HashMap<>();
    final Map<Shard, Long> ends = new HashMap<>();
    final Map<Long, Integer> epochs = new HashMap<>();
    final Map<Written, List<Taken>> taken = new HashMap<>();

    Result append(Shard shard, Batch batch) {
      if (shard.shard() > 1) {
        return new Result(Refusal.UNKNOWN_SHARD, 0);
      }
      long id = batch.producerId();
      int epoch = batch.producerEpoch();
      long first = batch.firstSequence();
      List<Taken> before = taken.getOrDefault(new Written(id, epoch, shard), List.of());
      long next = before.stream().mapToLong(t -> t.first() + t.count()).max().orElse(0);
      if (id != 0) {
        Integer known = epochs.get(id);
        if (known == null && first > 0) {
          return new Result(Refusal.UNKNOWN_PRODUCER, 0);
        }
        if (known != null && epoch < known) {
          return new Result(Refusal.PRODUCER_FENCED, known);
        }
        if (first > next) {
          return new Result(Refusal.SEQUENCE_GAP, next);
        }
        if (first < next) {
          return repeat(before, batch, next);
        }
        epochs.put(id, epoch);
        taken
            .computeIfAbsent(new Written(id, epoch, shard), any -> new ArrayList<>())
            .add(new Taken(first, batch.count(), ends.getOrDefault(shard, 0L)));
      }
      long base = ends.getOrDefault(shard, 0L);
      ends.put(shard, base + batch.count());
      logs.computeIfAbsent(shard, any -> new ArrayList<>()).add(batch.bytes());
      return new Result(null, base);
    }

    private static Result repeat(List<Taken> before, Batch batch, long next) {
      if (batch.firstSequence() + batch.count() > next) {
        return new Result(Refusal.INVALID, next);
      }
      int from = Math.max(0, before.size() - Limits.BATCHES_REMEMBERED);
      for (Taken each : before.subList(from, before.size())) {
        if (each.first() == batch.firstSequence() && each.count() == batch.count()) {
          return new Result(null, each.base());
        }
      }
      return new Result(null, Result.OFFSET_FORGOTTEN);
    }
  }

  @Property(tries = 300)
  void behavesAsTheModel(@ForAll @Size(max = 40) List<Integer> numbers) {
    Rig rig = Rig.opened();
    Model model = new Model();
    for (int number : numbers) {
      List<AppendBody.Item> items = new Dice(number).items();
      var expected = items.stream().map(item -> model.append(item.shard(), item.batch())).toList();
      assertThat(rig.append(items.toArray(new AppendBody.Item[0])).results()).isEqualTo(expected);
    }
    for (Shard shard : List.of(Rig.SHARD, Rig.OTHER)) {
      assertThat(stored(rig, shard)).isEqualTo(model.logs.getOrDefault(shard, List.of()));
      assertThat(rig.tables().shard(shard).end()).isEqualTo(model.ends.getOrDefault(shard, 0L));
    }
  }

  private static List<ByteBuffer> stored(Rig rig, Shard shard) {
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
