package dev.evenkeel.sim;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.internal.consume.Answer;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.FetchRetries;
import dev.evenkeel.client.internal.consume.ConsumerAction.OpenPublisher;
import dev.evenkeel.client.internal.consume.ConsumerAction.Opened;
import dev.evenkeel.client.internal.consume.ConsumerAction.Publish;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadParents;
import dev.evenkeel.client.internal.consume.ConsumerAction.Request;
import dev.evenkeel.client.internal.consume.ConsumerAction.ShardRequest;
import dev.evenkeel.client.internal.member.PublishBench;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RetryAnswer;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.ByteBuffer;
import java.util.HashMap;
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

  void fetch(Fetch fetch) {
    this.<FetchAnswer>request(
        text(() -> "fetch of " + fetch.owned()),
        fetch.request().waitMillis() + FETCH_GRACE_MILLIS,
        answer -> world.brokers.of(shard(fetch)).fetch(fetch.request(), answer),
        answer -> answered(fetch, answer),
        no -> failed(fetch, no));
  }

  void readLease(ReadLease read) {
    Shard shard = shard(read);
    this.<Lease>request(
        text(() -> "read of the lease of " + read.owned()),
        CONTROL_TIMEOUT_MILLIS,
        answer -> world.brokers.of(shard).readLease(group(), shard, answer),
        lease -> answered(read, world.bug.leaseRead(lease, begun.getOrDefault(shard, 0L))),
        no -> failed(read, no));
  }

  void readParents(ReadParents read) {
    for (int parent : read.parents()) {
      Shard shard = new Shard(shard(read).topicId(), parent);
      this.<Lease>request(
          text(() -> "read of the lease on " + shard),
          CONTROL_TIMEOUT_MILLIS,
          answer -> world.brokers.of(shard).readLease(group(), shard, answer),
          lease -> answered(read, world.bug.parent(lease)),
          no -> failed(read, no));
    }
  }

  void commit(CommitPositions batch) {
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
            failed(batch, refused.exception());
          } else {
            answered(batch, reply);
          }
        },
        refused -> failed(batch, refused));
  }

  void fetchRetries(FetchRetries fetch) {
    this.<RetryAnswer>request(
        text(() -> "retries of " + fetch.owned()),
        CONTROL_TIMEOUT_MILLIS,
        answer -> world.brokers.of(shard(fetch)).fetchRetries(fetch.request(), answer),
        answer -> answered(fetch, answer),
        no -> failed(fetch, no));
  }

  void submit(ShardRequest<Reply> request, DataCommand command) {
    submit(
        text(() -> command.getClass().getSimpleName() + " of " + request.owned()),
        shard(request),
        command,
        reply -> answered(request, reply),
        no -> failed(request, no));
  }

  private static Shard shard(ShardRequest<?> request) {
    return request.owned().shard();
  }

  private <R> void answered(Request<R> request, R answer) {
    consumer.core.answered(request, Answer.of(answer), clock());
  }

  private void failed(Request<?> request, RefusedException no) {
    consumer.core.answered(request, Answer.failed(no), clock());
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

  void open(OpenPublisher open) {
    Shard shard = shard(open);
    long id = world.bug.publisher(open.producerId(), consumer.group.publisher(shard));
    publishing
        .open(shard, open.owned().epoch(), id)
        .onComplete(
            opened -> {
              if (opened.succeeded()) {
                answered(
                    open, new Opened(opened.result(), to -> to.dataGroup(dataGroups()), Map.of()));
              } else {
                failed(open, refused(opened));
              }
            });
  }

  void publish(Publish publish) {
    publishing
        .publish(publish.request())
        .onComplete(
            published -> {
              if (published.succeeded()) {
                answered(publish, published.result());
              } else {
                failed(publish, refused(published));
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
