package dev.evenkeel.cli;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class LineOutputTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger failures = new AtomicInteger();

  private LineOutput output(OutputStream out) {
    return new LineOutput(out, vertx.getOrCreateContext(), e -> failures.incrementAndGet());
  }

  private static Consumer<Bytes> line(String text) {
    return bytes -> bytes.raw((text + "\n").getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void linesComeOutInOrderAndThenComplete() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    StringBuilder expected = new StringBuilder();
    List<Future<Void>> all = new ArrayList<>();
    try (LineOutput output = output(out)) {
      for (int i = 0; i < 10_000; i++) {
        expected.append(i).append('\n');
        all.add(output.write(line(String.valueOf(i))));
      }
      Future.all(all).toCompletionStage().toCompletableFuture().join();
    }
    assertThat(out.toString(StandardCharsets.US_ASCII)).isEqualTo(expected.toString());
    assertThat(failures).hasValue(0);
  }

  /** A member that is to end does not wait for a reader that has stopped. */
  @Test
  void linesThatNobodyReadsAreGivenBack() throws InterruptedException {
    CountDownLatch reader = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    OutputStream blocked =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            begun.countDown();
            try {
              reader.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
        };
    try (LineOutput output = output(blocked)) {
      output.abandonIfBlocked();
      Future<Void> first = output.write(line("a"));
      begun.await();
      Future<Void> second = output.write(line("b"));
      output.abandonIfBlocked();
      for (Future<Void> each : List.of(first, second)) {
        assertThat(each.cause()).isInstanceOf(GivenBackException.class);
      }
      assertThat(output.write(line("c")).failed()).isTrue();
      assertThat(failures).hasValue(0);
      reader.countDown();
    }
  }

  @Test
  void nothingCompletesWhileNobodyReads() {
    CountDownLatch reader = new CountDownLatch(1);
    OutputStream blocked =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            try {
              reader.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
        };
    try (LineOutput output = output(blocked)) {
      Future<Void> first = output.write(line("a"));
      Future<Void> second = output.write(line("b"));
      assertThat(first.isComplete() || second.isComplete()).isFalse();
      reader.countDown();
      await().until(() -> first.succeeded() && second.succeeded());
    }
  }

  @Test
  void whenTheReaderHasGoneItIsToldOnceAndEveryLineFails() {
    OutputStream gone =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    try (LineOutput output = output(gone)) {
      List<Future<Void>> all = new ArrayList<>();
      times(100, i -> all.add(output.write(line("x"))));
      await().until(() -> all.stream().allMatch(Future::failed));
      assertThat(output.write(line("late")).failed()).isTrue();
      assertThat(failures).hasValue(1);
    }
  }
}
