package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A leader of several shards handles one message at a time, unless it says otherwise. */
class SerialLeaderTest {
  private static final int SHARDS = 4;
  private static final int MESSAGES = 40;

  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  /** Ends messages only when it is told to. */
  private static final class Career implements LeaderCareer {
    final boolean serial;
    final Deque<Promise<Void>> open = new ArrayDeque<>();
    final Set<String> seen = new HashSet<>();
    int most;
    int failures;

    Career(boolean serial) {
      this.serial = serial;
    }

    @Override
    public boolean isSerial() {
      return serial;
    }

    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      return Future.succeededFuture();
    }

    @Override
    public synchronized Future<Void> execute(Delivery message) {
      seen.add(new String(message.message().payload(), UTF_8));
      Promise<Void> end = Promise.promise();
      open.add(end);
      most = Math.max(most, open.size());
      return end.future();
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      return Future.succeededFuture();
    }

    synchronized int running() {
      return open.size();
    }

    synchronized int most() {
      return most;
    }

    synchronized Set<String> seen() {
      return Set.copyOf(seen);
    }

    /** Ends what runs; the first few fail. */
    void endAll() {
      Deque<Promise<Void>> ended;
      boolean fails;
      synchronized (this) {
        ended = new ArrayDeque<>(open);
        open.clear();
        fails = !ended.isEmpty() && failures++ < 3;
      }
      ended.forEach(
          end -> {
            if (fails) {
              end.fail("no");
            } else {
              end.complete();
            }
          });
    }
  }

  /** The topic has the name of the group. */
  private static Consumer leader(EmbeddedNode node, ConsumerOptions options, Career career) {
    node.createTopic(options.getGroup(), SHARDS);
    Producer producer =
        await(node.client().producer(new ProducerOptions().setTopic(options.getGroup())));
    times(MESSAGES, i -> await(producer.send("k" + i, ("m" + i).getBytes(UTF_8))));
    await(producer.close());
    return await(node.client().leader(options, career));
  }

  private static ConsumerOptions options(String group) {
    return new ConsumerOptions()
        .setGroup(group)
        .setTopics(List.of(group))
        .setOrder(ConsumerOptions.Order.NONE)
        .setRetryDelaysMillis(List.of(0L, 0L, 0L));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneMessageRunsAtATimeOverAllShards(boolean worker, EmbeddedNode node) {
    Career career = new Career(true);
    Consumer leader =
        leader(node, options("serial-" + worker).setWorker(worker).setParallel(8), career);
    Wait.until(
        "all are handled",
        () -> {
          career.endAll();
          return leader.consumed() == MESSAGES;
        });
    assertThat(career.seen()).hasSize(MESSAGES);
    assertThat(career.most()).isEqualTo(1);
    await(leader.close());
  }

  @Test
  void whoAsksForItGetsSeveralAtATime(EmbeddedNode node) {
    Career career = new Career(false);
    Consumer leader = leader(node, options("parallel").setParallel(8), career);
    Wait.until("8 run", () -> career.running() == 8);
    Wait.until(
        "all are handled",
        () -> {
          career.endAll();
          return leader.consumed() == MESSAGES;
        });
    assertThat(career.seen()).hasSize(MESSAGES);
    assertThat(career.most()).isEqualTo(8);
    await(leader.close());
  }
}
