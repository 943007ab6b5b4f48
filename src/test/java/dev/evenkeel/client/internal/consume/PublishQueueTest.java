package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.RefusedException.QuotaReached;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class PublishQueueTest {
  private static final Shard A = new Shard(9, 0);
  private static final Shard B = new Shard(9, 1);
  private static final int GROUPS = 3;

  private final PublishQueue queue = new PublishQueue(7, 2, to -> to.dataGroup(GROUPS), Map.of());
  private final Window window = new Window(10);

  private Task task(long offset, Shard... to) {
    return task(window, offset, false, to);
  }

  private static Task task(Window window, long offset, boolean retry, Shard... to) {
    Message message = new Message(null, Map.of(), offset, new byte[] {1});
    Task task = new Task(null, offset, message, 1, retry);
    if (!retry) {
      window.handOut(offset);
    }
    Effects effects = task.newEffects();
    for (Shard shard : to) {
      effects.publish(shard, message);
    }
    return task;
  }

  private static List<Long> inputs(PublishRequest request) {
    return request.outs().stream().map(out -> out.task().offset).toList();
  }

  @Test
  void outputsLeaveInTheOrderOfInputs() {
    Task ten = task(10, A);
    Task eleven = task(11, A, B);
    Task twelve = task(12, A);
    queue.add(twelve);
    queue.add(eleven);
    assertThat(queue.next(window, 0)).isEmpty();
    queue.add(ten);
    List<PublishRequest> requests = queue.next(window, 0);
    assertThat(requests).hasSize(2);
    PublishRequest toA =
        requests.get(0).group() == A.dataGroup(GROUPS) ? requests.get(0) : requests.get(1);
    PublishRequest toB = requests.get(0) == toA ? requests.get(1) : requests.get(0);
    assertThat(inputs(toA)).containsExactly(10L, 11L, 12L);
    assertThat(inputs(toB)).containsExactly(11L);
    Batch second = toA.outs().get(1).batch();
    assertThat(second.producerId()).isEqualTo(7);
    assertThat(second.producerEpoch()).isEqualTo(2);
    assertThat(second.firstSequence()).isEqualTo(11L << 16 | 1);
    // The second is done when both shards have it.
    assertThat(queue.taken(toA)).containsExactlyInAnyOrder(ten, twelve);
    assertThat(queue.taken(toB)).containsExactly(eleven);
    assertThat(queue.taken(toB)).isEmpty();
  }

  @Test
  void itKeepsOnlyWhatShardsHaveOfInputsThatComeAgain() {
    Map<Shard, Long> last = Map.of(A, Effects.sequence(51), B, Effects.sequence(49));
    PublishQueue again = new PublishQueue(7, 2, to -> 0, PublishQueue.from(50, last));
    assertThat(again.hasPublished(A, 51)).isTrue();
    assertThat(again.hasPublished(A, 52)).isFalse();
    assertThat(again.hasPublished(B, 50)).isFalse();
    assertThat(PublishQueue.from(50, last)).containsOnlyKeys(A);
  }

  @Test
  void nothingOvertakesWhatIsOnItsWay() {
    queue.add(task(10, A));
    PublishRequest first = queue.next(window, 0).get(0);
    queue.add(task(11, A));
    assertThat(queue.next(window, 0)).isEmpty();
    queue.again(first, 50);
    assertThat(queue.next(window, 49)).isEmpty();
    PublishRequest second = queue.next(window, 50).get(0);
    assertThat(inputs(second)).containsExactly(10L, 11L);
    assertThat(queue.taken(first)).as("an answer to the first try").isEmpty();
    assertThat(queue.next(window, 99)).isEmpty();
    assertThat(queue.taken(second)).hasSize(2);
    assertThat(queue.next(window, 99)).isEmpty();
  }

  /** Other requests of the member would wait for minutes if all of it were paid at once. */
  @Test
  void whatAQuotaDoesNotCarryLeavesInSmallerRequestsWhenTheQuotaSaid() {
    for (int i = 10; i < 15; i++) {
      queue.add(task(i, A));
    }
    PublishRequest whole = queue.next(window, 0).get(0);
    assertThat(whole.outs()).hasSize(5);
    queue.again(whole, QuotaReached.of("a quota", 3_000, 2, Long.MAX_VALUE), 100);
    assertThat(queue.next(window, 3_099)).isEmpty();
    List<Long> sent = new ArrayList<>();
    while (sent.size() < 5) {
      PublishRequest piece = queue.next(window, 3_100).get(0);
      assertThat(piece.outs()).hasSizeLessThanOrEqualTo(2);
      sent.addAll(inputs(piece));
      assertThat(queue.taken(piece)).hasSameSizeAs(piece.outs());
    }
    assertThat(sent).containsExactly(10L, 11L, 12L, 13L, 14L);
  }

  /** The node saves for it, as long as it is asked for. */
  @Test
  void theOutputsOfOneInputAreNotDivided() {
    queue.add(task(10, A));
    queue.add(task(11, A));
    for (long now = 0; now < 60_000; now += QuotaReached.PAUSE_MILLIS_MAX) {
      PublishRequest request = queue.next(window, now).get(0);
      queue.again(request, QuotaReached.of("a quota", 100_000, Long.MAX_VALUE, 1), now);
    }
    assertThat(inputs(queue.next(window, 60_000).get(0))).containsExactly(10L);
  }

  @Test
  void aRetryWaitsForNobodyAndHasNoPlaceInTheSequence() {
    task(10);
    Task retry = task(window, 3, true, A);
    queue.add(retry);
    PublishRequest request = queue.next(window, 0).get(0);
    assertThat(request.outs().get(0).batch().producerId()).isZero();
    assertThat(queue.taken(request)).containsExactly(retry);
  }

  @Test
  void whatIsLostIsTold() {
    Task ten = task(10, A);
    Task twelve = task(12, B);
    queue.add(ten);
    queue.add(twelve);
    queue.next(window, 0);
    assertThat(queue.clear()).containsExactlyInAnyOrder(ten, twelve);
    assertThat(queue.next(window, 0)).isEmpty();
  }

  @Test
  void oneInputHasLimits() {
    Effects effects = new Effects();
    Message large = new Message(null, Map.of(), 0, new byte[1 << 20]);
    effects.publish(A, large);
    assertThatThrownBy(() -> effects.publish(A, large)).isInstanceOf(RefusedException.class);
    Effects many = new Effects();
    Message small = new Message(null, Map.of(), 0, new byte[0]);
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 70_000; i++) {
                many.publish(A, small);
              }
            })
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("65534");
    assertThatThrownBy(() -> effects.commit(new byte[(1 << 20) + 1]))
        .isInstanceOf(RefusedException.class);
  }

  /** Handlers end in any order, some without output; answers come late, or not at all. */
  @Property(tries = 300)
  void eachShardGetsItsInputsInOrder(@ForAll long seed) {
    Random random = new Random(seed);
    Window own = new Window(0);
    PublishQueue outputs = new PublishQueue(7, 1, to -> to.dataGroup(GROUPS), Map.of());
    List<Task> running = new ArrayList<>();
    List<PublishRequest> onTheWay = new ArrayList<>();
    Map<Shard, List<Long>> log = new HashMap<>();
    Map<Shard, List<Long>> expected = new HashMap<>();
    long next = 0;
    int done = 0;
    while (done < 60) {
      switch (random.nextInt(4)) {
        case 0, 1 -> {
          if (next < 60 && running.size() < 8) {
            Shard[] to = new Shard[random.nextInt(3)];
            for (int i = 0; i < to.length; i++) {
              to[i] = new Shard(9, random.nextInt(4));
            }
            for (Shard shard : new HashSet<>(List.of(to))) {
              expected
                  .computeIfAbsent(shard, each -> new ArrayList<>())
                  .add(Effects.sequence(next));
            }
            running.add(task(own, next++, false, to));
          }
        }
        case 2 -> {
          if (!running.isEmpty()) {
            Task task = running.remove(random.nextInt(running.size()));
            if (task.publishes()) {
              outputs.add(task);
            } else {
              own.finish(task.offset);
              done++;
            }
          }
        }
        default -> {
          if (!onTheWay.isEmpty()) {
            PublishRequest request = onTheWay.remove(random.nextInt(onTheWay.size()));
            request
                .outs()
                .forEach(
                    out -> {
                      List<Long> shard = log.computeIfAbsent(out.to(), to -> new ArrayList<>());
                      long highest = shard.isEmpty() ? -1 : shard.get(shard.size() - 1);
                      if (out.batch().firstSequence() > highest) {
                        shard.add(out.batch().firstSequence());
                      }
                    });
            int outcome = random.nextInt(4);
            if (outcome == 0) {
              outputs.again(request, 0);
            } else if (outcome == 1) {
              outputs.again(request, QuotaReached.of("a quota", 1, 1 + random.nextInt(3), 200), -1);
            } else {
              for (Task task : outputs.taken(request)) {
                own.finish(task.offset);
                done++;
              }
            }
          }
        }
      }
      onTheWay.addAll(outputs.next(own, 0));
    }
    assertThat(log).isEqualTo(expected);
    assertThat(own.committed()).isEqualTo(60);
  }
}
