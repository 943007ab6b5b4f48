package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.client.Producer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class ProduceRunTest {
  private static final ProduceRun.Settings SETTINGS =
      new ProduceRun.Settings(KeyExtractor.NONE, Map.of(), null, Duration.ZERO);

  @Closing private final Vertx vertx = Vertx.vertx();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private ProduceRun run(Function<Message, Future<Producer.Position>> send) {
    Producer producer =
        (Producer)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Producer.class},
                (self, method, args) ->
                    method.getName().equals("send") ? send.apply((Message) args[0]) : self);
    return new DirectRun(vertx, producer, SETTINGS, false, new PrintStream(err));
  }

  private static InputStream lines(int count) {
    return new ByteArrayInputStream("x\n".repeat(count).getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void whatIsReadIsSentAndCounted() throws Exception {
    ProduceRun run = run(message -> Future.succeededFuture(null));
    run.read(lines(1_000));
    assertThat(run.await(10_000, Long.MAX_VALUE)).isTrue();
    assertThat(run.acked()).isEqualTo(1_000);
    assertThat(run.linesRead()).isEqualTo(1_000);
    assertThat(err.size()).isZero();
  }

  @Test
  void aSignalEndsItAlsoWhileTheReaderWaitsForRoom() throws Exception {
    ProduceRun run = run(message -> Promise.<Producer.Position>promise().future());
    var reader = new Thread(() -> run.read(lines(DirectRun.IN_FLIGHT_MESSAGES_MAX * 2)), "reader");
    reader.setDaemon(true);
    reader.start();
    await().until(() -> reader.getState() == Thread.State.WAITING && run.linesRead() > 0);
    run.stop();
    assertThat(run.await(1, Long.MAX_VALUE)).isFalse();
    assertThat(run.acked()).isZero();
    assertThat(run.linesRead()).isGreaterThan(0);
  }

  /** As a pattern can overflow the stack on a long line. */
  @Test
  void anErrorWhileReadingEndsTheRunAndIsShown() throws Exception {
    ProduceRun run = run(message -> Future.succeededFuture(null));
    run.read(
        new InputStream() {
          @Override
          public int read() {
            throw new StackOverflowError("too deep");
          }
        });
    assertThat(run.await(10_000, Long.MAX_VALUE)).isFalse();
    assertThat(err.toString(StandardCharsets.UTF_8))
        .startsWith("evenkeel produce: reading failed after line 0: ")
        .contains("too deep");
  }

  @Test
  void aTopicThatIsGoneIsToldInOneLineAndEndsTheReading() throws Exception {
    RefusedException gone = new RefusedException(Refusal.UNKNOWN_TOPIC, "the topic was deleted");
    ProduceRun run = run(message -> Future.failedFuture(gone));
    run.read(lines(1_000));
    assertThat(run.await(10_000, Long.MAX_VALUE)).isFalse();
    assertThat(err.toString(StandardCharsets.UTF_8).lines())
        .containsExactly(
            "evenkeel produce: the topic was deleted: lines from 1 on are not acknowledged");
  }
}
