package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.bus.Asker;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that come while a worker thread checks what came before. */
class CompressedBatchesTest {
  private static final List<AppendBody.Item> MANY = most();

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setWorkerPoolSize(1));

  @AfterEach
  void close() throws Exception {
    get(vertx.close());
  }

  private static List<AppendBody.Item> most() {
    BatchBuilder builder = new BatchBuilder(1 << 20, BatchPacker.of(Compression.ZSTD));
    builder.add(new Message(null, null, 0, new byte[Limits.PAYLOAD_BYTES_MAX]));
    Batch batch = builder.build(0, 0, 0);
    return Collections.nCopies(
        Limits.APPEND_UNPACKED_BYTES_MAX / batch.unpackedLength(),
        new AppendBody.Item(new Shard(1, 0), batch));
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
  }

  @Test
  void whatIsBeingCheckedCountsUntilItIsDone() throws Exception {
    CountDownLatch workerIsBusy = new CountDownLatch(1);
    Future<Void> before =
        vertx.executeBlocking(
            () -> {
              workerIsBusy.await();
              return null;
            },
            false);
    Context context = vertx.getOrCreateContext();
    CompressedBatches batches = new CompressedBatches(vertx);
    Promise<Future<Void>> first = Promise.promise();
    Promise<Future<Void>> other = Promise.promise();
    Promise<Void> second = Promise.promise();
    context.runOnContext(
        v -> {
          first.complete(batches.check(MANY, Asker.NODE));
          other.complete(batches.check(MANY, Asker.NODE));
          try {
            batches.check(MANY, Asker.NODE);
            second.fail("not refused");
          } catch (RefusedException e) {
            second.fail(e);
          }
        });
    Future<Void> checked = get(first.future());
    assertThat(checked.isComplete()).isFalse();
    assertThatThrownBy(() -> get(second.future()))
        .cause()
        .isInstanceOfSatisfying(
            RefusedException.class, e -> assertThat(e.refusal()).isEqualTo(Refusal.OVERLOADED));
    workerIsBusy.countDown();
    get(before);
    get(checked);
    get(get(other.future()));
    Promise<Future<Void>> third = Promise.promise();
    context.runOnContext(v -> third.complete(batches.check(MANY, Asker.NODE)));
    get(get(third.future()));
  }

  @Test
  void theBatchesOfOneUserAreCheckedBetweenThoseOfAnother() throws Exception {
    Context context = vertx.getOrCreateContext();
    CompressedBatches batches = new CompressedBatches(vertx);
    Promise<Future<Void>> much = Promise.promise();
    Promise<Future<Boolean>> little = Promise.promise();
    Promise<RefusedException> more = Promise.promise();
    List<AppendBody.Item> one = MANY.subList(0, 1);
    context.runOnContext(
        v -> {
          Future<Void> all = batches.check(MANY, new Asker("a", "1"));
          much.complete(all);
          little.complete(batches.check(one, new Asker("b", "2")).map(done -> all.isComplete()));
          try {
            batches.check(one, new Asker("a", "1"));
            more.fail("not refused");
          } catch (RefusedException e) {
            more.complete(e);
          }
        });
    assertThat(get(get(little.future()))).as("the other user is done first").isFalse();
    assertThat(get(more.future())).hasMessageContaining("the user 'a'");
    get(get(much.future()));
  }
}
