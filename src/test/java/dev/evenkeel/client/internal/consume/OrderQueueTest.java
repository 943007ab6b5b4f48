package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class OrderQueueTest {
  private final OwnedShard hold =
      new OwnedShard("t", new Shard(1, 0), 1, ConsumerOptions.Order.KEY, 32);

  private Task task(long offset, String key) {
    byte[] bytes = key == null ? null : key.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    return new Task(hold, offset, new Message(bytes, Map.of(), 0, new byte[0]), 1);
  }

  private static OrderQueue.Source source(List<Task> tasks) {
    var each = tasks.iterator();
    return () -> each.hasNext() ? each.next() : null;
  }

  @Property(tries = 300)
  void aKeyKeepsItsOrderWhateverEndsFirst(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 20) int keys,
      @ForAll @IntRange(min = 1, max = 32) int parallel) {
    Random random = new Random(seed);
    List<Task> all = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      all.add(task(i, random.nextInt(10) == 0 ? null : "k" + random.nextInt(keys)));
    }
    OrderQueue lanes = OrderQueue.of(ConsumerOptions.Order.KEY);
    OrderQueue.Source source = source(all);
    List<Task> running = new ArrayList<>();
    Map<String, Long> last = new HashMap<>();
    int done = 0;
    while (done < all.size()) {
      Task task = running.size() < parallel && random.nextInt(3) > 0 ? lanes.next(source) : null;
      if (task != null) {
        String key = task.message.keyText();
        for (Task other : running) {
          assertThat(key != null && key.equals(other.message.keyText())).isFalse();
        }
        if (key != null) {
          assertThat(task.offset).isGreaterThan(last.getOrDefault(key, -1L));
          last.put(key, task.offset);
        }
        running.add(task);
      } else if (!running.isEmpty()) {
        lanes.finished(running.remove(random.nextInt(running.size())));
        done++;
      }
    }
    assertThat(lanes.next(source)).isNull();
  }

  @Example
  void aBusyKeyDoesNotHoldUpOthers() {
    List<Task> all = new ArrayList<>();
    all.add(task(0, "hot"));
    for (int i = 1; i < 100; i++) {
      all.add(task(i, "hot"));
    }
    all.add(task(100, "cold"));
    all.add(task(101, null));
    OrderQueue lanes = OrderQueue.of(ConsumerOptions.Order.KEY);
    OrderQueue.Source source = source(all);
    Task hot = lanes.next(source);
    assertThat(lanes.next(source).offset).isEqualTo(100);
    assertThat(lanes.next(source).offset).isEqualTo(101);
    assertThat(lanes.next(source)).isNull();
    lanes.finished(hot);
    assertThat(lanes.next(source).offset).isEqualTo(1);
    lanes.clear();
    assertThat(lanes.next(source)).isNull();
  }

  @Example
  void whatRunsKeepsItsLaneThroughAClear() {
    OrderQueue lanes = OrderQueue.of(ConsumerOptions.Order.KEY);
    Task first = lanes.next(source(List.of(task(0, "a"))));
    assertThat(lanes.next(source(List.of(task(1, "a"))))).isNull();
    lanes.clear();
    assertThat(lanes.next(source(List.of(task(2, "a"))))).isNull();
    lanes.finished(first);
    assertThat(lanes.next(source(List.of())).offset).isEqualTo(2);
  }

  @Example
  void orderShardIsOneAfterAnother() {
    List<Task> all = List.of(task(0, "a"), task(1, "b"), task(2, null));
    OrderQueue lanes = OrderQueue.of(ConsumerOptions.Order.SHARD);
    OrderQueue.Source source = source(all);
    for (Task expected : all) {
      Task task = lanes.next(source);
      assertThat(task).isSameAs(expected);
      assertThat(lanes.next(source)).isNull();
      lanes.finished(task);
    }
    assertThat(lanes.next(source)).isNull();
  }

  @Example
  void withoutOrderAllMayStart() {
    List<Task> all = List.of(task(0, "a"), task(1, "a"), task(2, null));
    OrderQueue lanes = OrderQueue.of(ConsumerOptions.Order.NONE);
    OrderQueue.Source source = source(all);
    for (Task expected : all) {
      assertThat(lanes.next(source)).isSameAs(expected);
    }
  }
}
