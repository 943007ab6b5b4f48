package dev.evenkeel.sim;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.internal.consume.CommitBatch;
import dev.evenkeel.client.internal.consume.OwnedShard;
import dev.evenkeel.client.internal.consume.PublishRequest;
import dev.evenkeel.client.internal.member.PublishBench;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What one consumer asks of the brokers. */
final class SimCalls implements PublishBench.Cluster {
  private static final long CONTROL_TIMEOUT_MILLIS = 3_000;
  private static final long APPEND_TIMEOUT_MILLIS = 5_000;
  private static final long FETCH_GRACE_MILLIS = 2_000;

  private final Cluster world;
  private final SimConsumer consumer;
  private final PublishBench publishing;
  private final Map<Shard, Long> begun = new HashMap<>();

  SimCalls(Cluster world, SimConsumer consumer) {
    this.world = world;
    this.consumer = consumer;
    publishing = new PublishBench(this, consumer.group.name());
  }

  private String group() {
    return consumer.group.name();
  }

  private long clock() {
    return consumer.clock();
  }

  private String text(Supplier<String> what) {
    return world.time.text(what);
  }

  /** An offset of a shard was begun. */
  void noteBegun(Shard shard, long offset) {
    begun.merge(shard, offset + 1, Math::max);
  }

  void fetch(OwnedShard owned, FetchRequest request) {
    this.<FetchAnswer>request(
        text(() -> "fetch of " + owned),
        request.waitMillis() + FETCH_GRACE_MILLIS,
        answer -> world.brokers.of(owned.shard()).fetch(request, answer),
        answer -> owned.fetched(request, answer, clock()),
        no -> owned.fetchFailed(request, no, clock()));
  }

  void readLease(OwnedShard owned) {
    Shard shard = owned.shard();
    this.<Lease>request(
        text(() -> "read of the lease of " + owned),
        CONTROL_TIMEOUT_MILLIS,
        answer -> world.brokers.of(shard).readLease(group(), shard, answer),
        lease ->
            owned.takeover.leaseRead(
                world.bug.leaseRead(lease, begun.getOrDefault(shard, 0L)), clock()),
        no -> owned.takeover.leaseFailed(no, clock()));
  }

  void readParents(OwnedShard owned, List<Integer> parents) {
    for (int parent : parents) {
      Shard shard = new Shard(owned.shard().topicId(), parent);
      this.<Lease>request(
          text(() -> "read of the lease on " + shard),
          CONTROL_TIMEOUT_MILLIS,
          answer -> world.brokers.of(shard).readLease(group(), shard, answer),
          lease -> owned.takeover.parentRead(world.bug.parent(lease), clock()),
          no -> owned.takeover.parentFailed(no, clock()));
    }
  }

  void commit(OwnedShard owned, DataCommand.Commit command) {
    submit(
        text(() -> "commit of " + owned),
        owned.shard(),
        command,
        reply -> owned.committed(command.offset()),
        no -> owned.commitFailed(no, clock()));
  }

  void commit(CommitBatch batch) {
    this.<Reply>request(
        text(() -> "commit of " + batch.command()),
        CONTROL_TIMEOUT_MILLIS,
        answer ->
            world
                .brokers
                .groups()
                .get(batch.dataGroup())
                .commit(batch.command(), consumer.instance, answer),
        reply -> {
          if (reply instanceof Reply.Refused refused) {
            batch.failed(refused.exception(), clock());
          } else {
            batch.answered(reply, clock());
          }
        },
        refused -> batch.failed(refused, clock()));
  }

  void recordOutcomes(OwnedShard owned, DataCommand.RecordOutcomes command) {
    submit(
        text(() -> "outcomes of " + owned),
        owned.shard(),
        command,
        reply -> owned.recorded(command, ((Reply.OfOffsets) reply).offsets(), clock()),
        no -> owned.recordFailed(command, no, clock()));
  }

  void fetchRetries(OwnedShard owned, RetryRequest request) {
    this.<RetryAnswer>request(
        text(() -> "retries of " + owned),
        CONTROL_TIMEOUT_MILLIS,
        answer -> world.brokers.of(owned.shard()).fetchRetries(request, answer),
        answer -> owned.retriesFetched(request, answer, clock()),
        no -> owned.retriesFailed(request, no, clock()));
  }

  void release(OwnedShard owned, DataCommand.Release command) {
    submit(
        text(() -> "release of " + owned),
        owned.shard(),
        command,
        reply -> owned.release.released(clock()),
        no -> owned.release.releaseFailed(no, clock()));
  }

  private void submit(
      String what,
      Shard shard,
      DataCommand command,
      Consumer<Reply> done,
      Consumer<RefusedException> failed) {
    this.<Reply>request(
        what,
        CONTROL_TIMEOUT_MILLIS,
        answer ->
            world.brokers.of(shard).submit(group(), shard, command, consumer.instance, answer),
        reply -> {
          if (reply instanceof Reply.Refused refused) {
            failed.accept(refused.exception());
          } else {
            done.accept(reply);
          }
        },
        failed);
  }

  // ---- What handlers publish

  void open(OwnedShard owned, long producerId) {
    long id = world.bug.publisher(producerId, consumer.group.publisher(owned.shard()));
    publishing
        .open(owned.shard(), owned.ownership().epoch(), id)
        .onComplete(
            opened -> {
              if (opened.succeeded()) {
                owned.takeover.publisherOpened(
                    opened.result(), to -> to.dataGroup(dataGroups()), Map.of(), clock());
              } else {
                owned.takeover.publisherFailed(refused(opened), clock());
              }
            });
  }

  void publish(OwnedShard owned, PublishRequest request) {
    publishing
        .publish(request)
        .onComplete(
            published -> {
              if (published.succeeded()) {
                owned.outputs.published(request, published.result(), clock());
              } else {
                owned.outputs.publishFailed(request, refused(published), clock());
              }
            });
  }

  private static RefusedException refused(AsyncResult<?> failed) {
    if (failed.cause() instanceof RefusedException refused) {
      return refused;
    }
    throw new IllegalStateException(failed.cause());
  }

  @Override
  public Future<Reply> submit(Shard shard, DataCommand command) {
    Promise<Reply> promise = Promise.promise();
    submit(text(command::toString), shard, command, promise::complete, promise::fail);
    return promise.future();
  }

  @Override
  public Future<Reply> submitMeta(MetaCommand command) {
    Promise<Reply> promise = Promise.promise();
    this.<Reply>request(
        text(command::toString),
        CONTROL_TIMEOUT_MILLIS,
        answer -> answer.give(world.brokers.submit(command)),
        promise::complete,
        promise::fail);
    return promise.future();
  }

  @Override
  public Future<ByteBuffer> append(Shard shard, Bytes body) {
    Promise<ByteBuffer> promise = Promise.promise();
    byte[] bytes = body.toArray();
    this.<ByteBuffer>request(
        text(() -> "append of " + consumer),
        APPEND_TIMEOUT_MILLIS,
        answer -> world.brokers.of(shard).append(bytes, answer),
        promise::complete,
        promise::fail);
    return promise.future();
  }

  @Override
  public int dataGroups() {
    return world.brokers.groups().size();
  }

  // ---- Any of them

  private <T> void request(
      String what,
      long timeoutMillis,
      Network.Server<T> server,
      Consumer<T> answered,
      Consumer<RefusedException> refused) {
    world.network.<T>call(
        consumer,
        null,
        what,
        timeoutMillis,
        consumer.linkUp ? server : Network.Answer::never,
        value -> {
          answered.accept(value);
          consumer.turn();
        },
        no -> {
          refused.accept(no);
          consumer.turn();
        });
  }
}
