package dev.evenkeel.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.cluster.ClusterMember;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LinkSessionTest {
  private static final int SESSIONS = 20;
  private static final int THREADS = 3;
  private static final int REQUESTS = 2_000;

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() throws Exception {
    vertx.close().await();
  }

  /** A request that comes while the session ends fails, or is failed by the end; never neither. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyRequestIsAnsweredWhenASessionEnds(boolean before) throws Exception {
    vertx.eventBus().consumer("silent", message -> {});
    for (int round = 0; round < SESSIONS; round++) {
      LinkSession session = new LinkSession(member(), lost -> {});
      CyclicBarrier together = new CyclicBarrier(THREADS + 1);
      ConcurrentLinkedQueue<Promise<Buffer>> asked = new ConcurrentLinkedQueue<>();
      List<Thread> threads =
          IntStream.range(0, THREADS)
              .mapToObj(each -> new Thread(() -> ask(session, together, asked)))
              .toList();
      threads.forEach(Thread::start);
      if (before) {
        session.end();
        together.await();
      } else {
        together.await();
        session.end();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(asked)
          .hasSize(THREADS * REQUESTS)
          .allSatisfy(promise -> assertThat(promise.future().isComplete()).isTrue());
    }
  }

  private static void ask(
      LinkSession session, CyclicBarrier together, ConcurrentLinkedQueue<Promise<Buffer>> asked) {
    try {
      together.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    for (int i = 0; i < REQUESTS; i++) {
      Promise<Buffer> promise = Promise.promise();
      asked.add(promise);
      session.request("silent", Buffer.buffer(), 20_000, promise);
    }
  }

  private ClusterMember member() {
    return (ClusterMember)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ClusterMember.class},
            (proxy, method, args) ->
                switch (method.getName()) {
                  case "vertx" -> vertx;
                  case "close" -> Future.succeededFuture();
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
