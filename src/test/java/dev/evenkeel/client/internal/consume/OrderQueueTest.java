package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class OrderQueueTest {
  private Task task(long offset, String key) {
    byte[] bytes = key == null ? null : key.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    return new Task(null, offset, new Message(bytes, Map.of(), 0, new byte[0]), 1);
  }

  private static Supplier<Task> source(List<Task> tasks) {
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
    OrderQueue queues = new OrderQueue(ConsumerOptions.Order.KEY, crowded -> {});
    Supplier<Task> source = source(all);
    List<Task> running = new ArrayList<>();
    Map<String, Long> last = new HashMap<>();
    int done = 0;
    while (done < all.size()) {
      Task task = running.size() < parallel && random.nextInt(3) > 0 ? queues.next(source) : null;
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
        queues.finished(running.remove(random.nextInt(running.size())));
        done++;
      }
    }
    assertThat(queues.next(source)).isNull();
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
    OrderQueue queues = new OrderQueue(ConsumerOptions.Order.KEY, crowded -> {});
    Supplier<Task> source = source(all);
    Task hot = queues.next(source);
    assertThat(queues.next(source).offset).isEqualTo(100);
    assertThat(queues.next(source).offset).isEqualTo(101);
    assertThat(queues.next(source)).isNull();
    queues.finished(hot);
    assertThat(queues.next(source).offset).isEqualTo(1);
    queues.clear();
    assertThat(queues.next(source)).isNull();
  }

  @Example
  void whatRunsKeepsItsTurnThroughAClear() {
    OrderQueue queues = new OrderQueue(ConsumerOptions.Order.KEY, crowded -> {});
    Task first = queues.next(source(List.of(task(0, "a"))));
    assertThat(queues.next(source(List.of(task(1, "a"))))).isNull();
    queues.clear();
    assertThat(queues.next(source(List.of(task(2, "a"))))).isNull();
    queues.finished(first);
    assertThat(queues.next(source(List.of())).offset).isEqualTo(2);
  }

  @Example
  void orderShardIsOneAfterAnother() {
    List<Task> all = List.of(task(0, "a"), task(1, "b"), task(2, null));
    OrderQueue queues = new OrderQueue(ConsumerOptions.Order.SHARD, crowded -> {});
    Supplier<Task> source = source(all);
    for (Task expected : all) {
      Task task = queues.next(source);
      assertThat(task).isSameAs(expected);
      assertThat(queues.next(source)).isNull();
      queues.finished(task);
    }
    assertThat(queues.next(source)).isNull();
  }

  @Example
  void withoutOrderAllMayStart() {
    List<Task> all = List.of(task(0, "a"), task(1, "a"), task(2, null));
    OrderQueue queues = new OrderQueue(ConsumerOptions.Order.NONE, crowded -> {});
    Supplier<Task> source = source(all);
    for (Task expected : all) {
      assertThat(queues.next(source)).isSameAs(expected);
    }
  }
}
