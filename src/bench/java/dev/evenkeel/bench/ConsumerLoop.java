package dev.evenkeel.bench;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.member.Consumers;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Measures how many messages a second one consumer handles, without a cluster: everything between
 * the answer of a fetch and the handler, on one thread. The answers are made up, and never end.
 * Only the processor time of that thread counts, so that it matters little what else runs on the
 * machine.
 *
 * <p>System properties: {@code loop.handler}: {@code payload} (asks for the payload, as an
 * application does; the default), {@code nothing}, {@code batch} or {@code async}; {@code
 * loop.order}, {@code loop.shards}, {@code loop.size} (bytes of a payload), {@code loop.batch}
 * (messages of a batch), {@code bench.rounds} and {@code bench.seconds}.
 */
public final class ConsumerLoop implements Link {
  private static final int TOPIC = 1;
  private static final String NODE = "n1";

  private final Vertx vertx = Vertx.vertx();
  private final int shards = Integer.getInteger("loop.shards", 12);
  private final byte[] batch;
  private final int batchMessages = Integer.getInteger("loop.batch", 500);

  /** Written by the consumer's thread alone. */
  private volatile long handled;

  private long mine;
  private long bytes;

  private ConsumerLoop() {
    SplittableRandom random = new SplittableRandom(1);
    BatchBuilder builder = new BatchBuilder(1 << 16);
    for (int i = 0; i < batchMessages; i++) {
      byte[] payload = new byte[Integer.getInteger("loop.size", 100)];
      random.nextBytes(payload);
      builder.add(new Message(null, Map.of(), i, payload));
    }
    ByteBuffer built = builder.build(1, 0, 0).bytes();
    batch = new byte[built.remaining()];
    built.get(batch);
  }

  public static void main(String[] args) throws InterruptedException {
    new ConsumerLoop().run();
  }

  private void run() throws InterruptedException {
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup("g")
            .setMember("m")
            .setTopics(List.of("t"))
            .setOrder(
                ConsumerOptions.Order.valueOf(
                    System.getProperty("loop.order", "shard").toUpperCase(Locale.ROOT)));
    ClusterDirectory directory = new ClusterDirectory(this);
    CompletableFuture<Long> thread = new CompletableFuture<>();
    Consumers.start(this, directory, options, handler())
        .onComplete(
            started -> {
              if (started.failed()) {
                System.err.println("it did not start: " + started.cause());
              }
              thread.complete(Thread.currentThread().getId());
            });
    long id = thread.join();
    int rounds = Integer.getInteger("bench.rounds", 5);
    long seconds = Long.getLong("bench.seconds", 2);
    for (int round = -2; round < rounds; round++) {
      long from = handled;
      long begin = processorNanos(id);
      TimeUnit.SECONDS.sleep(seconds);
      long messages = handled - from;
      long nanos = processorNanos(id) - begin;
      System.out.printf(
          Locale.ROOT,
          "%s%,d messages, %.1f ns each, %,d messages/s%n",
          round < 0 ? "warm-up: " : "",
          messages,
          nanos / (double) Math.max(1, messages),
          messages * 1_000_000_000 / Math.max(1, nanos));
    }
    System.exit(0);
  }

  private static long processorNanos(long thread) {
    return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread);
  }

  private ConsumerHandler handler() {
    Future<Void> done = Future.succeededFuture();
    return switch (System.getProperty("loop.handler", "payload")) {
      case "nothing" ->
          delivery -> {
            handled = ++mine;
            return done;
          };
      case "async" ->
          delivery -> {
            bytes += delivery.message().payload().length;
            handled = ++mine;
            return vertx.getOrCreateContext().executeBlocking(() -> null, false).mapEmpty();
          };
      case "batch" ->
          batches(
              deliveries -> {
                deliveries.forEach(each -> bytes += each.message().payload().length);
                mine += deliveries.size();
                handled = mine;
                return done;
              });
      default ->
          delivery -> {
            bytes += delivery.message().payload().length;
            handled = ++mine;
            return done;
          };
    };
  }

  private static ConsumerHandler batches(dev.evenkeel.client.BatchHandler handler) {
    return handler;
  }

  // The cluster

  private Buffer answer(String address, Buffer body) {
    if (address.equals(Addresses.VIEW)) {
      return view().toJson().toBuffer();
    }
    if (body.length() == 0) {
      return Frames.refusal(Refusal.INVALID, "an empty request");
    }
    if (address.equals(Addresses.dispatcher(NODE))) {
      Heartbeat heartbeat = Heartbeat.fromJson(new JsonObject(body));
      List<Assignment.Owned> owned = new ArrayList<>();
      for (int i = 0; i < shards; i++) {
        owned.add(new Assignment.Owned("t", new Shard(TOPIC, i), 1, false, 0, 0));
      }
      return Frames.answer(
          new Assignment("g", heartbeat.member(), heartbeat.instance(), 1, 1, owned, null)
              .toJson()
              .toBuffer()
              .getBytes());
    }
    return switch (Frames.op(body)) {
      case FETCH -> fetch(FetchRequest.decode(Frames.body(body)));
      case SUBMIT_DATA -> Frames.answer(ReplyCodec.encode(Reply.DONE));
      default -> Frames.refusal(Refusal.INVALID, "not made up");
    };
  }

  /** As many batches as the limits of the request allow, at least one. */
  private Buffer fetch(FetchRequest request) {
    int batches =
        Math.max(
            1, Math.min(request.bytesMax() / batch.length, request.messagesMax() / batchMessages));
    Bytes out = new Bytes(20 + batches * (8 + batch.length));
    out.i64(0).i64(Long.MAX_VALUE / 2).i32(0);
    for (int i = 0; i < batches; i++) {
      out.i64(request.offset() + (long) i * batchMessages).raw(batch);
    }
    return Frames.answer(out.view());
  }

  private ClusterView view() {
    TopicInfo topic =
        new TopicInfo(TOPIC, "t", shards, new TopicConfig(0, 0, 0), TopicInfo.State.ACTIVE, 0);
    return new ClusterView(
        "c",
        NODE,
        NODE,
        List.of(NODE, NODE),
        List.of(NODE),
        List.of(topic),
        0,
        List.of(),
        true,
        -1,
        List.of(),
        0,
        0,
        0);
  }

  // Link

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
    io.vertx.core.Promise<Buffer> promise = io.vertx.core.Promise.promise();
    // Never in the caller's own stack, as with a real link.
    vertx.getOrCreateContext().runOnContext(ignored -> promise.complete(answer(address, body)));
    return promise.future();
  }

  @Override
  public Listening listen(String address, Consumer<Buffer> handler) {
    return new Listening() {
      @Override
      public Future<Void> registered() {
        return Future.succeededFuture();
      }

      @Override
      public void end() {
        // Nobody would know of it.
      }
    };
  }

  @Override
  public Listening serve(String address, Function<Buffer, Future<Buffer>> server) {
    return listen(address, null);
  }

  @Override
  public State state() {
    return State.CONNECTED;
  }

  @Override
  public void onState(Consumer<State> handler) {
    // It never changes.
  }

  @Override
  public void offState(Consumer<State> handler) {
    // It never changes.
  }

  @Override
  public String clusterMember() {
    return "m1";
  }

  @Override
  public Future<Void> close() {
    return vertx.close();
  }
}
