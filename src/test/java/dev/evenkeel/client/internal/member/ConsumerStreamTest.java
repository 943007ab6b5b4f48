package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import io.vertx.core.Future;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ConsumerStreamTest extends MemberBench {
  private final AtomicInteger taken = new AtomicInteger();

  ConsumerStreamTest() {
    super(2);
  }

  private ConsumerStream stream(ConsumerStream.Finishing finishing) throws Exception {
    ConsumerOptions options =
        options().setMember(null).setParallel(4).setOrder(ConsumerOptions.Order.NONE);
    return await(
        HandlerStream.start(handler -> starting(options, counting(handler)), finishing, null));
  }

  /** What the stream has taken from the consumer is counted, asked for or not. */
  private ConsumerHandler counting(ConsumerHandler handler) {
    return (ConsumerHandler)
        Proxy.newProxyInstance(
            ConsumerHandler.class.getClassLoader(),
            new Class<?>[] {ConsumerHandler.class},
            (self, method, args) -> {
              try {
                return method.invoke(handler, args);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              } finally {
                taken.addAndGet(method.getName().equals("handle") ? 1 : 0);
              }
            });
  }

  @Test
  void flowsAsFarAsItIsAskedFor() throws Exception {
    ConsumerStream stream = stream(ConsumerStream.Finishing.AUTOMATIC);
    List<Long> seen = new CopyOnWriteArrayList<>();
    AtomicInteger ends = new AtomicInteger();
    stream.endHandler(ignored -> ends.incrementAndGet());
    stream.pause();
    stream.handler(delivery -> seen.add(delivery.offset()));
    append(0, 20);
    cluster.grant(0, null, -1);
    stream.fetch(3);
    Awaitility.await().until(() -> seen.size() == 3);
    stream.fetch(10);
    Awaitility.await().until(() -> seen.size() == 13);
    assertThat(stream.consumer().consumed()).isLessThanOrEqualTo(13);
    // Four more have been handed out to the stream; closing gives them back.
    await(stream.close());
    assertThat(seen).hasSize(13);
    // Whoever awaits the end may hear of it on another thread before the stream's handler does.
    Awaitility.await().until(() -> ends.get() > 0);
    assertThat(ends).hasValue(1);
    assertThat(cluster.lease(0).owned()).isFalse();
    assertThat(cluster.lease(0).committed()).isEqualTo(13);
  }

  @Test
  void theHandlerIsNotCalledFromWithinACallThatFinishesAMessage() throws Exception {
    ConsumerStream stream = stream(ConsumerStream.Finishing.MANUAL);
    stream.pause();
    List<Long> seen = new CopyOnWriteArrayList<>();
    AtomicInteger calls = new AtomicInteger();
    AtomicInteger mostAtOnce = new AtomicInteger();
    stream.handler(
        delivery -> {
          mostAtOnce.accumulateAndGet(calls.incrementAndGet(), Math::max);
          seen.add(delivery.offset());
          stream.finish(delivery);
          calls.decrementAndGet();
        });
    append(0, 20);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> taken.get() == 4);
    stream.resume();
    Awaitility.await().until(() -> seen.size() == 20);
    assertThat(mostAtOnce).hasValue(1);
    await(stream.close());
  }

  @Test
  void whatTheHandlerThrowsIsTriedAgain() throws Exception {
    ConsumerStream stream = stream(ConsumerStream.Finishing.AUTOMATIC);
    List<Integer> attempts = new CopyOnWriteArrayList<>();
    stream.handler(
        delivery -> {
          attempts.add(delivery.attempt());
          if (delivery.attempt() == 1) {
            throw new IllegalStateException("broken");
          }
        });
    append(0, 1);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> attempts.equals(List.of(1, 2)));
    await(stream.close());
    assertThat(cluster.lease(0).committed()).isEqualTo(1);
  }

  @Test
  void byHandAtMostParallelAreUnfinished() throws Exception {
    ConsumerStream stream = stream(ConsumerStream.Finishing.MANUAL);
    List<Delivery> seen = new CopyOnWriteArrayList<>();
    stream.handler(seen::add);
    append(1, 10);
    cluster.grant(1, null, -1);
    Awaitility.await().until(() -> seen.size() == 4);
    stream.finish(seen.get(1));
    Awaitility.await().until(() -> seen.size() == 5);
    stream.fail(seen.get(0), new IllegalStateException("broken"));
    // While it waits, others take its place; it comes again when one of them has made room.
    Wait.until(
        () -> {
          seen.stream().filter(d -> d.offset() > 0).forEach(stream::finish);
          return seen.stream().anyMatch(d -> d.offset() == 0 && d.attempt() == 2);
        });
    Future<Void> closed = stream.close();
    Wait.until(
        () -> {
          seen.forEach(stream::finish);
          return closed.isComplete();
        });
    assertThat(cluster.lease(1).owned()).isFalse();
    assertThat(cluster.lease(1).committed()).isGreaterThanOrEqualTo(5);
  }

  @Test
  void afterAHandoverThatWasCalledOffMessagesWaitToBeAskedForAgain() throws Exception {
    ConsumerStream stream = stream(ConsumerStream.Finishing.MANUAL);
    List<Delivery> seen = new CopyOnWriteArrayList<>();
    stream.pause();
    stream.handler(seen::add);
    append(0, 20);
    cluster.grant(0, null, -1);
    stream.fetch(1);
    Awaitility.await().until(() -> seen.size() == 1 && taken.get() == 4);
    // Three more wait to be asked for; they are given back, so that the shard can go.
    long begin = System.nanoTime();
    cluster.drain(0);
    cluster.callOff(0);
    // What comes with this says so too.
    cluster.grant(1, null, -1);
    Awaitility.await().until(() -> stream.consumer().ownedShards() == 2);
    stream.finish(seen.get(0));
    Awaitility.await().until(() -> stream.consumer().consumed() == 1);
    stream.fetch(1);
    Awaitility.await().until(() -> seen.size() == 2);
    // What was given back comes again after a second: not before those behind it, if that was soon.
    boolean soon = System.nanoTime() - begin < 900_000_000;
    assertThat(seen.get(1).offset()).isGreaterThanOrEqualTo(soon ? 4 : 1);
    stream.resume();
    Wait.until(
        () -> {
          seen.forEach(stream::finish);
          return stream.consumer().consumed() == 20;
        });
    await(stream.close());
    assertThat(seen)
        .extracting(Delivery::offset)
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 20).boxed().toList());
    assertThat(seen).as("attempts at those that had been let wait").allMatch(d -> d.attempt() == 1);
    assertThat(cluster.lease(0).committed()).isEqualTo(20);
  }

  @Test
  void aLostShardSetsItsPlacesFree() throws Exception {
    ConsumerStream stream = stream(ConsumerStream.Finishing.MANUAL);
    List<Delivery> seen = new CopyOnWriteArrayList<>();
    stream.handler(seen::add);
    append(0, 10);
    append(1, 10);
    cluster.grant(0, null, -1);
    Awaitility.await().until(() -> seen.size() == 4);
    cluster.grant(1, null, -1);
    cluster.steal(0);
    Awaitility.await().until(() -> seen.size() == 8);
    assertThat(seen.get(7).shard()).isEqualTo(1);
    seen.forEach(stream::finish);
    Future<Void> closed = stream.close();
    Wait.until(
        () -> {
          seen.forEach(stream::finish);
          return closed.isComplete();
        });
    assertThat(cluster.lease(1).owned()).isFalse();
  }
}
