package dev.evenkeel.broker;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.broker.node.BrokerSettings;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.Op;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.storage.MemoryStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Brokers on a local Vert.x over {@link FakeCluster} and memory, and requests to them. */
final class Bench implements AutoCloseable {
  final Vertx vertx = Vertx.vertx();
  final FakeCluster cluster;
  final MemoryStore.Disk disk = new MemoryStore.Disk();
  final Map<String, BrokerNode> nodes = new LinkedHashMap<>();
  private boolean statesDiffer;
  final AtomicLong now = new AtomicLong(1_000_000);

  /** Data directories of the nodes. */
  final Map<String, Path> directories = new TreeMap<>();

  final AtomicLong diskFree = new AtomicLong(Long.MAX_VALUE);

  /** Has the figures; of several brokers, those of the first. */
  final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  Bench(long tailBytesMax, JsonObject options, int dataGroups, String... names) throws Exception {
    cluster = new FakeCluster(dataGroups, names);
    LocalObjects.put(vertx, MeterRegistry.class, registry);
    for (String name : names) {
      Path directory =
          Files.createTempDirectory(
              Files.createDirectories(Path.of("target", "bench")), "evenkeel-broker");
      directories.put(name, directory);
      BrokerSettings settings =
          new BrokerSettings(
              new LogSettings(
                  name,
                  directory.resolve("raft"),
                  List.of(new LogSettings.Peer(name, "localhost", 0)),
                  dataGroups,
                  1000,
                  1 << 30,
                  1 << 30),
              directory,
              tailBytesMax,
              new BrokerOptions(
                  new JsonObject()
                      .put("segmentBytesMax", 1 << 20)
                      .put("rewriteBytesPerSecond", 1 << 20)
                      .put("diskFreeBytesMin", 1000)),
              now::get,
              diskFree::get);
      BrokerNode node =
          BrokerNode.start(
              settings,
              (logSettings, states, line) -> cluster.start(logSettings, states),
              disk::open,
              null);
      nodes.put(name, node);
      BrokerVerticle verticle = new BrokerVerticle(CompletableFuture.completedFuture(node));
      get(vertx.deployVerticle(verticle, new DeploymentOptions().setConfig(options)));
    }
  }

  static Bench one() throws Exception {
    return new Bench(1 << 20, new JsonObject(), 2, "n1");
  }

  static <T> T get(Future<T> future) throws Exception {
    try {
      return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  Future<ByteBuffer> send(String address, Buffer request) {
    return vertx
        .eventBus()
        .<Buffer>request(address, request)
        .map(message -> Frames.answerBody(message.body()));
  }

  /** A request that a client has sent, as the node says that has taken it. */
  Future<ByteBuffer> send(String address, Buffer request, String user, String connection) {
    DeliveryOptions options = new DeliveryOptions().addHeader(Frames.CONNECTION, connection);
    if (user != null) {
      options.addHeader(Frames.USER, user);
    }
    return vertx
        .eventBus()
        .<Buffer>request(address, request, options)
        .map(message -> Frames.answerBody(message.body()));
  }

  ByteBuffer control(Op op, Bytes body) throws Exception {
    return get(send(Addresses.control("n1"), Frames.request(op, body)));
  }

  Reply submit(String node, int group, DataCommand command) throws Exception {
    Bytes body = new Bytes().i32(group);
    CommandCodec.write(body, command);
    ByteBuffer answer = get(send(Addresses.control(node), Frames.request(Op.SUBMIT_DATA, body)));
    return ReplyCodec.decode(answer);
  }

  TopicInfo create(String topic, int shards) throws Exception {
    Bytes body = new Bytes().text(topic).i32(shards);
    RecordCodec.TOPIC_CONFIG.write(body, TopicConfig.DEFAULT);
    return ((Reply.OfTopic) ReplyCodec.decode(control(Op.CREATE_TOPIC, body))).topic();
  }

  int groupOf(Shard shard) {
    return shard.dataGroup(nodes.get("n1").data().size());
  }

  Lease grant(String group, Shard shard, String owner, long expected) throws Exception {
    Reply reply =
        submit(
            "n1",
            groupOf(shard),
            Commands.grant(group, shard, owner, owner + "-1", expected, StartAt.EARLIEST));
    return ((Reply.OfLease) reply).lease();
  }

  static Buffer appendRequest(Shard shard, Batch... batches) {
    Bytes body = new Bytes();
    each(batches, batch -> AppendBody.write(body, shard, batch));
    return Frames.request(Op.APPEND, body);
  }

  Future<AppendResults> append(Shard shard, Batch... batches) {
    return send(Addresses.data("n1"), appendRequest(shard, batches)).map(AppendResults::decode);
  }

  Future<FetchAnswer> fetch(String group, Shard shard, long epoch, long offset, int waitMillis) {
    return fetch(new FetchRequest(group, shard, epoch, offset, 1 << 20, 1 << 20, 0, waitMillis));
  }

  Future<FetchAnswer> fetch(FetchRequest request) {
    return send(Addresses.data("n1"), Frames.request(Op.FETCH, request.encode()))
        .map(answer -> FetchAnswer.decode(answer, request.placed()));
  }

  /** Fetches that wait together. */
  Future<FetchManyAnswer> fetchMany(FetchRequest... fetches) {
    FetchManyRequest request = new FetchManyRequest(List.of(fetches));
    return send(Addresses.data("n1"), Frames.request(Op.FETCH_MANY, request.encode()))
        .map(FetchManyAnswer::decode);
  }

  /** Without a lease. */
  Future<FetchAnswer> browse(Shard shard, long offset, int waitMillis) {
    FetchRequest request = FetchRequest.browse(shard, offset, 1 << 20, 1 << 20, waitMillis);
    return send(Addresses.data("n1"), Frames.request(Op.BROWSE, request.encode()))
        .map(FetchAnswer::decode);
  }

  /** The request is refused for this reason. */
  static RefusedException refused(Refusal reason, Future<?> future) throws Exception {
    RefusedException refused = refusal(future);
    assertThat(refused.refusal()).isEqualTo(reason);
    return refused;
  }

  static RefusedException refusal(Future<?> future) throws Exception {
    try {
      Object answer = get(future);
      throw new AssertionError("not refused: " + answer);
    } catch (RefusedException refused) {
      return refused;
    }
  }

  @Override
  public void close() throws Exception {
    get(vertx.close());
    try {
      assertEqualStates();
    } finally {
      nodes.values().forEach(BrokerNode::close);
      cluster.close();
    }
  }

  /** From now on the states of the nodes are not equal, as the test wants it. */
  void statesDiffer() {
    statesDiffer = true;
  }

  /** Of nodes that have applied the same entry; one that left the cluster has not. */
  private void assertEqualStates() {
    if (statesDiffer) {
      return;
    }
    for (BrokerNode one : nodes.values()) {
      for (BrokerNode other : nodes.values()) {
        for (LogGroup log : one.log().all()) {
          StateDigest digest = one.state(log.name()).digest();
          StateDigest its = other.state(log.name()).digest();
          boolean both = its != null && digest != null;
          if (both && its.appliedIndex() == digest.appliedIndex()) {
            assertThat(its)
                .as("%s of %s and %s", log.name(), other.nodeId(), one.nodeId())
                .isEqualTo(digest);
          }
        }
      }
    }
  }
}
