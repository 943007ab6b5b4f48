package dev.evenkeel.client.internal.produce;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ReplicasAnswer;
import dev.evenkeel.bus.ReplicasRequest;
import dev.evenkeel.bus.ViewQuestion;
import dev.evenkeel.client.internal.produce.core.SimLog;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Two nodes of which one leads all; on a {@link FakeLink}, with {@link SimLog}s. */
public final class FakeBroker {
  static final int TOPIC = 3;

  public final List<SimLog> logs = List.of(new SimLog(), new SimLog());

  /** When the delayed batches that came are due. */
  public final List<Long> dues = new CopyOnWriteArrayList<>();

  /** How the batches that came are compressed. */
  public final Set<Compression> compressions = ConcurrentHashMap.newKeySet();

  /** By how much its clock is ahead of that of the test. */
  public volatile long aheadMillis;

  public volatile String leader = "a";
  public volatile List<String> topics = List.of("t");
  public volatile int shards = 4;

  /** Former numbers of shards: these are sealed. */
  private volatile List<TopicInfo.Layout> former = List.of();

  /** Whether it does not know the topics yet. */
  volatile boolean behind;

  public volatile int appends;

  /** Requests that waited, or wait, for {@link #release()}. */
  volatile int held;

  /** What all nodes read. */
  public volatile int level = FeatureLevel.NEWEST;

  /** How many of the next epochs of names are given and not told. */
  volatile int untoldEpochs;

  /** Whether the next request for a further epoch finds the name forgotten. */
  volatile boolean nameForgotten;

  /** Whether appends are taken and never answered. */
  volatile boolean silent;

  /** Whether epochs are opened and never answered. */
  public volatile boolean silentOpens;

  public volatile int opens;

  /** Nodes whose disks have nothing of what is appended. */
  public volatile List<String> missing = List.of();

  public volatile int replicaQuestions;
  private final Vertx vertx;
  private int registered;
  private boolean continued;
  private Promise<Void> gate;
  private int heldGroup;

  public FakeBroker(FakeLink link) {
    vertx = link.vertx();
    link.serve(Addresses.VIEW, body -> Future.succeededFuture(answerView().toBuffer()));
    for (String node : List.of("a", "b")) {
      link.serve(Addresses.control(node), body -> control(node, body));
      link.serve(Addresses.data(node), body -> data(node, body));
    }
  }

  private JsonObject answerView() {
    return view("a").toJson().put(ViewQuestion.CLOCK, System.currentTimeMillis() + aheadMillis);
  }

  private ClusterView view(String known) {
    List<TopicInfo> infos = new ArrayList<>();
    for (String topic : behind ? List.<String>of() : topics) {
      List<TopicInfo.Layout> layouts = new ArrayList<>(former);
      layouts.add(new TopicInfo.Layout(first(), shards, 1_000));
      infos.add(
          new TopicInfo(
              TOPIC, topic, layouts, null, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1_000));
    }
    List<String> leaders = List.of(known, known);
    List<String> nodes = List.of("a", "b");
    return new ClusterView(
        "c", "a", known, leaders, nodes, infos, 0, List.of(), !behind, -1, List.of(), 0, level, 0);
  }

  private int first() {
    return former.isEmpty() ? 0 : former.get(former.size() - 1).end();
  }

  /** Seals the shards. */
  void seal() {
    for (int i = 0; i < shards; i++) {
      Shard shard = new Shard(TOPIC, first() + i);
      log(shard).seal(shard);
    }
  }

  /** Opens others in the place of the sealed ones. */
  void open(int next) {
    List<TopicInfo.Layout> all = new ArrayList<>(former);
    all.add(new TopicInfo.Layout(first(), shards, 1_000));
    former = List.copyOf(all);
    shards = next;
  }

  /** Holds back all appends until {@link #release()}. */
  public synchronized void hold() {
    hold(-1);
  }

  /** Holds back the appends of one data group. */
  public synchronized void hold(int group) {
    gate = Promise.promise();
    heldGroup = group;
  }

  public synchronized void release() {
    gate.complete();
    gate = null;
  }

  private synchronized Future<Void> gate(Buffer request) {
    boolean passes =
        gate == null
            || heldGroup >= 0
                && AppendBody.read(Frames.body(request)).get(0).shard().dataGroup(logs.size())
                    != heldGroup;
    held += passes ? 0 : 1;
    return passes ? Future.succeededFuture() : gate.future();
  }

  public List<Integer> messages(int shard) {
    return log(new Shard(TOPIC, shard)).messages(new Shard(TOPIC, shard));
  }

  /** Messages in a data group. */
  public int appended(int group) {
    int sum = 0;
    for (int shard = 0; shard < shards; shard++) {
      boolean there = new Shard(TOPIC, shard).dataGroup(logs.size()) == group;
      sum += there ? messages(shard).size() : 0;
    }
    return sum;
  }

  private SimLog log(Shard shard) {
    return logs.get(shard.dataGroup(logs.size()));
  }

  private Future<Buffer> control(String node, Buffer request) {
    if (!node.equals(leader)) {
      return Future.succeededFuture(Frames.refusal(Refusal.NOT_LEADER, leader));
    }
    ByteReader in = new ByteReader(Frames.body(request));
    Reply reply;
    if (Frames.op(request) == Op.SUBMIT_META) {
      reply = epoch(CommandCodec.meta(in));
    } else {
      SimLog log = logs.get(in.i32());
      int epoch = ((DataCommand.OpenProducer) CommandCodec.data(in)).epoch();
      Map<Shard, Long> last = log.open(epoch);
      opens++;
      if (silentOpens) {
        return Promise.<Buffer>promise().future();
      }
      reply =
          last == null
              ? Reply.refused(Refusal.PRODUCER_FENCED, "later epoch")
              : new Reply.OfSequences(last);
    }
    return Future.succeededFuture(Frames.answer(ReplyCodec.encode(reply)));
  }

  private Reply epoch(MetaCommand command) {
    if (command instanceof MetaCommand.RegisterProducer register) {
      continued = false;
      return new Reply.OfProducer(1, register.name().isEmpty() ? 0 : registered++);
    }
    if (level < FeatureLevel.CONTINUED_PRODUCERS) {
      return Reply.refused(Refusal.WRONG_VERSION, "unknown command");
    }
    int epoch = ((MetaCommand.ContinueProducer) command).epoch();
    if (nameForgotten) {
      nameForgotten = false;
      return Reply.refused(Refusal.UNKNOWN_PRODUCER, "no such name");
    }
    if (epoch == registered - 1) {
      continued = true;
      registered++;
    } else if (!continued || epoch != registered - 2) {
      return Reply.refused(Refusal.PRODUCER_FENCED, "registered again");
    }
    return untoldEpochs-- > 0
        ? Reply.refused(Refusal.INDETERMINATE, "no answer")
        : new Reply.OfProducer(1, registered - 1);
  }

  private Future<Buffer> replicas(ReplicasRequest request) {
    replicaQuestions++;
    List<String> absent = missing;
    ReplicasAnswer answer =
        absent.isEmpty()
            ? new ReplicasAnswer(request.logIndex(), List.of())
            : new ReplicasAnswer(0, absent);
    Future<Buffer> answered = Future.succeededFuture(Frames.answer(answer.encode().view()));
    return absent.isEmpty()
        ? answered
        : vertx.timer(Math.min(50, Math.max(1, request.waitMillis()))).compose(none -> answered);
  }

  private Future<Buffer> data(String node, Buffer request) {
    if (!node.equals(leader)) {
      return Future.succeededFuture(Frames.refusal(Refusal.NOT_LEADER, leader));
    }
    if (Frames.op(request) == Op.AWAIT_REPLICAS) {
      return replicas(ReplicasRequest.decode(Frames.body(request)));
    }
    return gate(request)
        .map(
            none -> {
              appends++;
              List<Result> results = new ArrayList<>();
              for (AppendBody.Item item : AppendBody.read(Frames.body(request))) {
                byte[] bytes = new byte[item.batch().length()];
                ByteBuffer view = item.batch().bytes().duplicate();
                view.rewind();
                view.get(bytes);
                Result result =
                    topics.isEmpty()
                        ? new Result(Refusal.UNKNOWN_TOPIC, 0)
                        : log(item.shard()).append(item.shard(), bytes);
                compressions.add(item.batch().compression());
                if (item.delayed() && result.ok()) {
                  dues.add(item.dueMillis());
                  result = new Result(null, Result.OFFSET_FORGOTTEN);
                }
                results.add(result);
              }
              return Frames.answer(new AppendResults(1, results).encode());
            })
        .compose(
            answer -> silent ? Promise.<Buffer>promise().future() : Future.succeededFuture(answer));
  }
}
