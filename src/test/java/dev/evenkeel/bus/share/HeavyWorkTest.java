package dev.evenkeel.bus.share;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HeavyWorkTest {
  @Closing private final Vertx vertx = Vertx.vertx();

  @Test
  void itIsDoneOnAnotherThreadAndAnsweredOnTheCallersContext() {
    Promise<List<Object>> seen = Promise.promise();
    vertx.runOnContext(
        now -> {
          Thread caller = Thread.currentThread();
          HeavyWork.of(vertx)
              .run("u", 1, Thread::currentThread)
              .onSuccess(worker -> seen.complete(List.of(caller, worker, Thread.currentThread())));
        });
    List<Object> threads = await(seen.future());
    assertThat(threads.get(1)).isNotEqualTo(threads.get(0));
    assertThat(threads.get(2)).isEqualTo(threads.get(0));
  }

  @Test
  void whatATaskThrowsIsItsFailure() {
    HeavyWork work = HeavyWork.of(vertx);
    Refused.with(
        Refusal.INVALID,
        () ->
            await(
                work.run(
                    "u",
                    1,
                    () -> {
                      throw Refusal.INVALID.error("bad");
                    })));
    assertThat(await(work.run("u", 1, () -> 7))).isEqualTo(7);
  }

  @Test
  void itGoesOnWithoutTheVerticleThatNeededItFirst() {
    VerticleBase first =
        new VerticleBase() {
          @Override
          public Future<?> start() {
            return HeavyWork.of(vertx).run("u", 1, () -> 1);
          }
        };
    String id = await(vertx.deployVerticle(first));
    await(vertx.undeploy(id));
    assertThat(await(HeavyWork.of(vertx).run("u", 1, () -> 2))).isEqualTo(2);
  }

  @Test
  void anErrorGivesTheTurnBack() {
    HeavyWork work = HeavyWork.of(vertx);
    Future<Object> deep =
        work.run(
            "u",
            1,
            () -> {
              throw new StackOverflowError();
            });
    assertThat(await(deep.otherwise(e -> e))).isInstanceOf(StackOverflowError.class);
    assertThat(await(work.run("u", 1, () -> 7))).isEqualTo(7);
  }

  @Test
  void oneUserHasOneThreadAndHalfOfTheRoom() {
    HeavyWork work = HeavyWork.of(vertx);
    CountDownLatch go = new CountDownLatch(1);
    List<Future<?>> many = new ArrayList<>();
    for (int i = 0; i < HeavyWork.WAITING_MAX; i++) {
      many.add(
          work.run(
              "many",
              1,
              () -> {
                go.await();
                return null;
              }));
    }
    assertThat(many.get(many.size() - 1).failed()).isTrue();
    assertThat(await(work.run("one", 1, () -> 1))).isEqualTo(1);
    go.countDown();
    long refused =
        many.stream().filter(each -> await(each.otherwise(e -> null).map(each)).failed()).count();
    assertThat(refused).isBetween(HeavyWork.WAITING_MAX / 2L - 1, HeavyWork.WAITING_MAX / 2L);
  }
}
