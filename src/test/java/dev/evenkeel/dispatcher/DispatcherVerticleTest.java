package dev.evenkeel.dispatcher;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.evenkeel.Closing;
import dev.evenkeel.Golden;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.LocalDispatcher;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.KeyInFlight;
import dev.evenkeel.dispatcher.level.LevelDispatcher;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class DispatcherVerticleTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeCluster cluster = new FakeCluster(vertx);
  private final FakeCluster.Node node = new FakeCluster.Node();
  private final FakeBroker broker = new FakeBroker(vertx, new ModelLog().topic(1, "t", 4));

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @BeforeEach
  void start() throws Exception {
    LocalObjects.put(vertx, MeterRegistry.class, registry);
    LocalObjects.put(vertx, LogNode.class, node.log());
    LocalObjects.put(vertx, ClusterMember.class, cluster);
    await(
        vertx.deployVerticle(
            DispatcherVerticle.class.getName(),
            new DeploymentOptions()
                .setConfig(
                    JsonObject.of("tickMillis", 50, "rebalanceMillis", 300)
                        // Nobody is given up because the machine is busy.
                        .put("memberTimeoutMillis", 60_000)
                        .put("requestTimeoutMillis", 60_000)
                        .put("startMillisMax", 600_000))));
  }

  /**
   * A member that beats, and remembers what it was told: pushed, or answered if that came first.
   */
  private final class TestMember {
    final String name;
    final String instance;
    final List<Assignment> told = new CopyOnWriteArrayList<>();
    private final GroupPolicy policy;
    private final long timer;
    private volatile String connection;
    private long timeoutMillis = 60_000;
    private boolean silent;
    private volatile DedupTally tally;
    private volatile FlowTally flow;
    private volatile boolean closing;

    TestMember(String name) {
      this(name, GroupPolicy.SHARDED);
    }

    TestMember(String name, GroupPolicy policy) {
      this.name = name;
      this.policy = policy;
      this.instance = name + "-" + System.nanoTime();
      this.connection = "c-" + instance;
      cluster.came(connection);
      vertx
          .eventBus()
          .<Buffer>consumer(
              Addresses.member(instance),
              message -> told.add(Assignment.fromJson(new JsonObject(message.body()))));
      timer = vertx.setPeriodic(100, tick -> beatUnlessSilent());
    }

    /** What is sent is on its way before {@link #silence} returns: nothing comes after it. */
    private synchronized void beatUnlessSilent() {
      if (!silent) {
        beat(false).onSuccess(told::add);
      }
    }

    Future<Assignment> beat(boolean leaving) {
      return DispatcherVerticleTest.this.beat(
          with(
              Heartbeats.beat("g", name, instance, 100),
              JsonObject.of("leaving", leaving, "closing", closing, "consumed", 7L)
                  .put("policy", policy)
                  .put("clusterMember", connection)
                  .put("memberTimeoutMillis", timeoutMillis)
                  .put("lockTimeMillis", 120_000L)
                  // The tests name the shards that move.
                  .put("wishes", new Heartbeat.Wishes("average", null, 0, null, null, null, null))
                  .put("marks", marks())
                  .put("dedupTally", tally)
                  .put("flow", flow)));
    }

    /** It takes up what it is told that it owns. */
    private List<ShardProgress> marks() {
      return told.stream()
          .max(Comparator.comparingLong(Assignment::revision))
          .map(last -> last.shards().stream().map(TestMember::mark).toList())
          .orElse(List.of());
    }

    private static ShardProgress mark(Assignment.Owned owned) {
      return new ShardProgress(
          owned.shard(), owned.epoch(), null, null, null, null, null, null, null);
    }

    synchronized void silence() {
      silent = true;
      vertx.cancelTimer(timer);
    }

    void leave() throws Exception {
      silence();
      assertThat(await(beat(true)).shards()).isEmpty();
    }

    boolean toldDraining(int shard) {
      return told.stream()
          .flatMap(assignment -> assignment.shards().stream())
          .anyMatch(owned -> owned.shard().shard() == shard && owned.draining());
    }

    void release(int shard) {
      Shard id = new Shard(1, shard);
      broker.submit(new DataCommand.Release("g", id, lease(shard).epoch(), 5, -1, null));
    }
  }

  private static Heartbeat with(Heartbeat beat, JsonObject values) {
    for (Map.Entry<String, Object> each : values.getMap().entrySet()) {
      beat = Heartbeats.with(beat, each.getKey(), each.getValue());
    }
    return beat;
  }

  private Future<Assignment> beat(Heartbeat beat) {
    return ask(Addresses.dispatcher("n1"), beat.toJson())
        .map(json -> Assignment.fromJson((JsonObject) json));
  }

  /** The JSON that is answered; fails with the refusal. */
  private Future<Object> ask(String address, JsonObject question) {
    return vertx
        .eventBus()
        .<Buffer>request(address, question.toBuffer())
        .map(
            answer -> {
              String text = text(answer);
              return text.startsWith("[") ? new JsonArray(text) : new JsonObject(text);
            });
  }

  private static String text(Message<Buffer> answer) {
    return StandardCharsets.UTF_8.decode(Frames.answerBody(answer.body())).toString();
  }

  private Refusal refusal(Future<?> future) {
    try {
      await(future);
      return null;
    } catch (RefusedException e) {
      return e.refusal();
    }
  }

  /** Of a heartbeat. */
  private Refusal refusal(JsonObject beat) {
    return refusal(ask(Addresses.dispatcher("n1"), beat));
  }

  private Lease lease(int shard) {
    synchronized (broker.log) {
      return broker.log.lease("g", new Shard(1, shard));
    }
  }

  private String owners() {
    StringBuilder owners = new StringBuilder();
    for (int i = 0; i < 4; i++) {
      Lease lease = lease(i);
      owners.append(lease == null || !lease.owned() ? "-" : lease.owner());
    }
    return owners.toString();
  }

  private void lead(long term) {
    node.lead(new Leadership("n1", term, true));
  }

  /** The first dispatcher begins, and a member a owns all shards. */
  private TestMember ownsAll() {
    return ownsAll(new TestMember("a"));
  }

  private TestMember ownsAll(TestMember member) {
    lead(1);
    await().until(() -> owners().equals("aaaa"));
    return member;
  }

  /** The first member, a, hears that it must release two shards, and the second, b, gets them. */
  private void halfGoesFrom(TestMember a) {
    await().until(() -> a.toldDraining(2) && a.toldDraining(3));
    assertThat(owners()).isEqualTo("aaaa");
    a.release(2);
    a.release(3);
    await().until(() -> owners().equals("aabb"));
  }

  private PrometheusText text() throws Exception {
    await(Meters.of(vertx).refresh());
    return PrometheusText.parse(registry.scrape());
  }

  @Test
  void aVerticleThatHasEndedIsHeldByNobody() throws Exception {
    vertx.deploymentIDs().forEach(id -> await(vertx.undeploy(id)));
    assertThat(cluster.handlers()).isZero();
    assertThat(node.listeners()).isZero();
  }

  @Test
  void figuresOfGroupsAreShownByWhoKnowsThem() throws Exception {
    assertThat(text().value("evenkeel_dispatcher_active")).isZero();
    TestMember a = ownsAll();
    Wait.untilAsserted(
        () -> {
          PrometheusText text = text();
          assertThat(text.value("evenkeel_dispatcher_active")).isEqualTo(1);
          assertThat(text.value("evenkeel_dispatcher_activations_total")).isEqualTo(1);
          assertThat(text.value("evenkeel_group_members", "group", "g")).isEqualTo(1);
          assertThat(text.value("evenkeel_group_shards", "group", "g")).isEqualTo(4);
          assertThat(text.value("evenkeel_group_shards_unowned", "group", "g")).isZero();
          assertThat(text.value("evenkeel_group_shards_draining", "group", "g")).isZero();
          assertThat(text.value("evenkeel_group_lag_messages", "group", "g", "topic", "t"))
              .isNotNegative();
          assertThat(text.value("evenkeel_dispatcher_moves_total", "reason", "member joined"))
              .isEqualTo(4);
          assertThat(text.value("evenkeel_dispatcher_plans_total")).isPositive();
          assertThat(text.value("evenkeel_dispatcher_heartbeats_total")).isPositive();
        });
    TestMember b = new TestMember("b");
    await().until(() -> a.toldDraining(2) && a.toldDraining(3));
    Wait.untilAsserted(
        () ->
            assertThat(text().value("evenkeel_group_shards_draining", "group", "g")).isEqualTo(2));
    a.release(2);
    a.release(3);
    await().until(() -> owners().equals("aabb"));
    Wait.untilAsserted(
        () -> {
          assertThat(text().value("evenkeel_handover_release_seconds_count")).isEqualTo(2);
          assertThat(text().sum("evenkeel_dispatcher_moves_total")).isEqualTo(6);
        });
    a.silence();
    b.silence();
    node.lead(new Leadership("n2", 2, false));
    Wait.untilAsserted(
        () -> {
          assertThat(text().value("evenkeel_dispatcher_active")).isZero();
          assertThat(text().types).doesNotContainKey("evenkeel_group_lag_messages");
        });
    assertThat(refusal(a.beat(false))).isEqualTo(Refusal.NOT_LEADER);
    assertThat(text().value("evenkeel_dispatcher_refusals_total", "kind", "not_leader"))
        .isPositive();
  }

  @Test
  void whoDoesNotLeadNamesTheLeader() {
    node.lead(new Leadership("n2", 3, false));
    Future<Object> answer = ask(Addresses.dispatcher("n1"), new JsonObject());
    assertThat(refusal(answer)).isEqualTo(Refusal.NOT_LEADER);
    assertThat(answer.cause()).hasMessage("n2");
    assertThat(refusal(ask(Addresses.groups("n1"), new JsonObject())))
        .isEqualTo(Refusal.NOT_LEADER);
  }

  @Test
  void untilTheLogWasReadHeartbeatsAreUnavailable() {
    broker.mute(true);
    lead(1);
    assertThat(refusal(new JsonObject())).isEqualTo(Refusal.UNAVAILABLE);
    broker.mute(false);
    Wait.until(() -> refusal(new JsonObject()) == Refusal.INVALID);
  }

  @Test
  void malformedHeartbeatsAreRefused() {
    lead(1);
    Heartbeat plain = Heartbeats.beat("g", "m", "i", 1);
    Heartbeat beat =
        Heartbeats.with(
            plain, "clusterMember", "c", "memberTimeoutMillis", 60_000L, "lockTimeMillis", 0L);
    JsonArray incomplete = new JsonArray().add(new JsonArray().add(1));
    JsonArray incompleteKey = new JsonArray().add(new JsonArray().add("key"));
    List<JsonObject> malformed =
        List.of(
            beat.toJson().put("marks", incomplete),
            beat.toJson().put("marks", new JsonArray().addNull()),
            beat.toJson().put("dedupTally", new JsonObject().put("hot", incompleteKey)),
            beat.toJson().put("policy", 1).put("mode", 1),
            beat.toJson().put("startKind", "LATER"),
            beat.toJson().putNull("instance"),
            beat.toJson().put("mode", GroupPolicy.MODE_LEVEL).put("range", 1).putNull("instance"),
            beat.toJson().putNull("bornMillis"));
    Wait.until(() -> refusal(malformed.get(0)) == Refusal.INVALID);
    for (JsonObject each : malformed) {
      assertThat(refusal(each)).as(each.encode()).isEqualTo(Refusal.INVALID);
    }
  }

  @Test
  void malformedQuestionsAreRefused() {
    lead(1);
    List<JsonObject> malformed =
        List.of(
            new JsonObject().putNull("plan"),
            new JsonObject().putNull("forget"),
            new JsonObject().putNull("whatIfForgotten"),
            new JsonObject().put("reset", "g"));
    Wait.until(() -> refusal(ask(Addresses.groups("n1"), malformed.get(0))) == Refusal.INVALID);
    for (JsonObject each : malformed) {
      assertThat(refusal(ask(Addresses.groups("n1"), each)))
          .as(each.encode())
          .isEqualTo(Refusal.INVALID);
    }
  }

  @Test
  void malformedReportsAreRefused() {
    Bytes noGroup = new Bytes().text(null).text("i");
    for (Buffer malformed :
        List.of(
            Buffer.buffer(),
            Frames.request(Op.LEVEL_START, new Bytes()),
            Frames.request(Op.LEVEL_REPORT, noGroup))) {
      Future<?> answer =
          vertx
              .eventBus()
              .<Buffer>request(Addresses.levelDispatcher("n1"), malformed)
              .map(message -> Frames.answerBody(message.body()));
      assertThat(refusal(answer)).isEqualTo(Refusal.INVALID);
    }
  }

  @Test
  void stepsOfTheShardsOfADataGroupTravelTogether() {
    TestMember a = ownsAll();
    new TestMember("b");
    await().until(() -> a.toldDraining(2) && a.toldDraining(3));
    assertThat(broker.joined).containsExactly(2, 2);
  }

  @Test
  void nodesOfAFormerVersionGetOneStepAtATime() {
    broker.former = true;
    ownsAll();
    assertThat(broker.joined).isEmpty();
  }

  @Test
  void joinDrainReleaseGrantLeave() throws Exception {
    synchronized (broker.log) {
      broker.log.failures.add(new FailureFigures("g", new Shard(1, 0), 2, 2, 0, 1, 99));
      broker.log.failures.add(new FailureFigures("g", new Shard(1, 3), 0, 0, 3, 3, 0));
      broker.log.failures.add(new FailureFigures("other", new Shard(1, 3), 7, 7, 7, 7, 7));
    }
    TestMember a = ownsAll();
    TestMember b = new TestMember("b");
    halfGoesFrom(a);
    assertThat(lease(0).epoch()).isEqualTo(1);
    assertThat(lease(2).epoch()).isEqualTo(2);
    assertThat(await(b.beat(false)).shards()).hasSize(2);

    JsonObject group = group();
    assertThat(group.getJsonObject("level").getMap())
        .containsOnlyKeys(
            "range", "strategy", "gap", "round", "holder", "heldMs", "setAside", "bars")
        .containsEntry("range", null)
        .containsEntry("strategy", null);
    assertThat(group.getJsonObject("dedup").getString("mode")).isEqualTo("off");
    assertThat(group.getJsonObject("failures"))
        .isEqualTo(
            JsonObject.of("retriesWaiting", 5, "parked", 2, "shardsWaiting", 1, "deadLetters", 4));
    assertThat(group.getString("mode")).isEqualTo("sharded");
    assertThat(group.getString("status")).isEqualTo("OK");
    JsonObject first = group.getJsonArray("members").getJsonObject(0);
    assertThat(first.getString("member")).isEqualTo("a");
    assertThat(first.getLong("consumed")).isEqualTo(7);
    assertThat(first.getString("breaker")).isEqualTo("closed");
    assertThat(first.getJsonArray("shards")).isEqualTo(new JsonArray().add("t/0").add("t/1"));
    JsonObject third = group.getJsonArray("shards").getJsonObject(2);
    assertThat(third.getString("owner")).isEqualTo("b");
    assertThat(third.getString("state")).isEqualTo("OWNED");
    assertThat(third.getLong("committed")).isEqualTo(5);
    assertThat(third.containsKey("position")).isTrue();
    assertThat(third.getLong("epoch")).isEqualTo(2);
    assertThat(third.containsKey("nextOwner")).isTrue();
    assertThat(third.getValue("nextOwner")).isNull();

    JsonArray groups = (JsonArray) await(ask(Addresses.groups("n1"), new JsonObject()));
    assertThat(groups.getJsonObject(0).getInteger("members")).isEqualTo(2);

    b.leave();
    await().until(() -> owners().equals("aaaa"));
    JsonArray moves = moves(2);
    assertThat(moves).hasSize(2);
    assertThat(moves.getJsonObject(0).getString("reason")).isEqualTo("member left");
    assertThat(moves.getJsonObject(0).getString("from")).isEqualTo("b");
  }

  /** It releases its shards by itself; until then nobody asks it to. */
  @Test
  void whatAMemberThatLeavesOwnsIsShownAsDraining() throws Exception {
    TestMember a = ownsAll();
    a.silence();
    a.closing = true;
    await(a.beat(false));
    JsonObject shard = group().getJsonArray("shards").getJsonObject(0);
    assertThat(shard.getString("owner")).isEqualTo("a");
    assertThat(shard.getString("state")).isEqualTo("DRAINING");
    assertThat(shard.getValue("drainDeadline")).isNull();
    assertThat(shard.getValue("nextOwner")).isNull();
    a.release(0);
    await().until(() -> group().getJsonArray("shards").getJsonObject(0).getValue("owner") == null);
  }

  private static DedupTally tally(int declined, int waiting, double share, String level) {
    return new DedupTally(
        Figures.of(GroupFigure.Section.DEDUP, 30, 10, declined, 1, 2, 3, 1, waiting),
        new DedupTally.Repeats(level, level.equals("none") ? 0 : declined, share, 100),
        List.of(new DedupTally.Hot("k", declined), new DedupTally.Hot("k" + declined, 1)));
  }

  private JsonObject dedup() throws Exception {
    return group().getJsonObject("dedup");
  }

  private JsonObject group() throws Exception {
    return (JsonObject) await(ask(Addresses.groups("n1"), new JsonObject().put("group", "g")));
  }

  @Test
  void ratesAreSummedOverMembersAlsoOverThoseThatLeft() throws Exception {
    TestMember a = ownsAll();
    assertThat(rates().getMap())
        .containsOnlyKeys("delayed", "dropped", "waiting", "shardsWaiting")
        .containsEntry("dropped", null);
    TestMember b = new TestMember("b");
    a.flow = new FlowTally(Figures.of(GroupFigure.Section.RATES, 5, 3, 2, 1), null, null);
    b.flow = new FlowTally(Figures.of(GroupFigure.Section.RATES, 7, 4, 9, 0), null, null);
    await().until(() -> Long.valueOf(7).equals(rates().getLong("dropped")));
    assertThat(rates())
        .isEqualTo(JsonObject.of("delayed", 12, "dropped", 7, "waiting", 11, "shardsWaiting", 1));
    b.flow = new FlowTally(Figures.of(GroupFigure.Section.RATES, 7, 6, 9, 0), null, null);
    b.leave();
    await().until(() -> Long.valueOf(2).equals(rates().getLong("waiting")));
    assertThat(rates().getLong("dropped")).isEqualTo(9);
  }

  @Test
  void membersInModeBroadcastTellWhereTheyStand() throws Exception {
    lead(1);
    TestMember a = new TestMember("a", GroupPolicy.of("broadcast"));
    a.flow = new FlowTally(Figures.NONE, new FlowTally.Broadcast(12L, 1), null);
    await()
        .ignoreExceptions()
        .until(
            () -> {
              JsonArray members = group().getJsonArray("members");
              return members.size() == 1
                  && Long.valueOf(12).equals(members.getJsonObject(0).getLong("lag"));
            });
    JsonObject member = group().getJsonArray("members").getJsonObject(0);
    assertThat(member.getLong("passedOver")).isEqualTo(1);
    assertThat(member.getJsonArray("shards")).isEmpty();
    assertThat(group().getString("status")).isEqualTo("OK");
    assertThat(group().getString("mode")).isEqualTo("broadcast");
  }

  @Test
  void dedupIsSummedOverMembersAndTheAutomataOfTheDeadAreSwept() throws Exception {
    GroupPolicy policy = GroupPolicy.of("sharded", null, null, "payload");
    TestMember a = ownsAll(new TestMember("a", policy));
    assertThat(dedup().getString("mode")).isEqualTo("payload");
    assertThat(dedup().getMap()).containsEntry("accepted", null).containsEntry("savedShare", null);
    TestMember b = new TestMember("b", policy);
    a.tally = tally(40, 1, 0.2, "high");
    b.tally = tally(20, 2, 0.4, "none");
    await().until(() -> Long.valueOf(60).equals(dedup().getLong("declined")));
    JsonObject both = dedup();
    assertThat(both.getLong("accepted")).isEqualTo(60);
    assertThat(both.getLong("waiting")).isEqualTo(3);
    assertThat(both.getLong("lost")).isEqualTo(4);
    assertThat(both.getDouble("savedShare")).isCloseTo(60 / 140.0, within(1e-9));
    JsonObject repetition = both.getJsonObject("repetition");
    assertThat(repetition.getString("level")).isEqualTo("high");
    assertThat(repetition.getInteger("smallestDistance")).isEqualTo(40);
    assertThat(repetition.getDouble("declinedShare")).isCloseTo(0.3, within(1e-9));
    assertThat(repetition.getLong("observedMessages")).isEqualTo(200);
    assertThat(both.getJsonArray("hot").getJsonObject(0).getMap())
        .containsEntry("key", "k")
        .containsEntry("declined", 60);

    // What it says last stays in the sum, and what is so now does not.
    b.tally = tally(25, 2, 0.4, "none");
    b.leave();
    await().until(() -> Long.valueOf(65).equals(dedup().getLong("declined")));
    assertThat(dedup().getLong("waiting")).isEqualTo(1);
    assertThat(dedup().getLong("processing")).isEqualTo(1);

    cluster.left("c-" + b.instance);
    Wait.until(
        () ->
            cluster.sweptLast() != null
                && cluster.sweptLast().contains("c-" + a.instance)
                && !cluster.sweptLast().contains("c-" + b.instance));
    a.leave();
  }

  /** Two members, one of which has left after it counted something; time is masked. */
  @Test
  void whatIsShownOfAGroupIsAlwaysTheSame() throws Exception {
    synchronized (broker.log) {
      broker.log.failures.add(new FailureFigures("g", new Shard(1, 0), 2, 2, 0, 1, 99));
    }
    GroupPolicy policy = GroupPolicy.of("sharded", null, null, "payload");
    TestMember a = ownsAll(new TestMember("a", policy));
    TestMember b = new TestMember("b", policy);
    a.tally = tally(40, 1, 0.2, "high");
    b.tally = tally(20, 2, 0.4, "none");
    a.flow = new FlowTally(Figures.of(GroupFigure.Section.RATES, 5, 3, 2, 1), null, null);
    b.flow =
        new FlowTally(
            Figures.of(GroupFigure.Section.RATES, 7, 4, 9, 0),
            new FlowTally.Broadcast(null, 2),
            null);
    await().until(() -> Long.valueOf(60).equals(dedup().getLong("declined")));
    await().until(() -> a.toldDraining(2) && a.toldDraining(3));
    await().until(() -> Long.valueOf(9 + 2).equals(rates().getLong("waiting")));
    StringBuilder shown = new StringBuilder();
    shown.append(masked(group())).append("\n\n");
    b.leave();
    await().until(() -> Long.valueOf(2).equals(rates().getLong("waiting")));
    await().until(() -> "OK".equals(group().getString("status")));
    for (JsonObject question :
        List.of(
            new JsonObject(),
            new JsonObject().put("group", "g"),
            new JsonObject().put("live", "none"),
            new JsonObject().put("whatIfForgotten", new JsonObject().put("group", "g")))) {
      shown.append(masked(await(ask(Addresses.groups("n1"), question)))).append("\n\n");
    }
    await(Meters.of(vertx).refresh());
    registry
        .scrape()
        .lines()
        .filter(line -> line.contains("evenkeel_group"))
        .sorted()
        .forEach(line -> shown.append(line).append('\n'));
    Golden.check("groups.txt", shown.toString());
  }

  private JsonObject rates() throws Exception {
    return group().getJsonObject("rates");
  }

  private static String masked(Object json) {
    String text =
        json instanceof JsonArray array
            ? array.encodePrettily()
            : ((JsonObject) json).encodePrettily();
    return text.replaceAll("(\"lastHeartbeatMs\" : )\\d+", "$1MILLIS")
        .replaceAll("(\"(drainDeadline|pauseMs|releaseMs)\" : )\\d+", "$1MILLIS")
        .replaceAll("(\"(time|tag|node)\" : )\"[^\"]+\"", "$1TEXT");
  }

  private JsonArray moves() throws Exception {
    return moves(99);
  }

  private JsonArray moves(int limit) throws Exception {
    JsonObject question = JsonObject.of("rebalances", "g", "limit", limit);
    return (JsonArray) await(ask(Addresses.groups("n1"), question));
  }

  private double counted() {
    return PrometheusText.parse(registry.scrape()).sum("evenkeel_dispatcher_moves_total");
  }

  @Test
  void theNextDispatcherKnowsTheMovesAndDoesNotCountThemAgain() throws Exception {
    TestMember a = ownsAll();
    TestMember b = new TestMember("b");
    halfGoesFrom(a);
    await().until(() -> broker.log.moves.size() == 6);
    JsonArray before = moves();
    assertThat(before).hasSize(6);
    await().untilAsserted(() -> assertThat(counted()).isEqualTo(6));
    lead(2);
    await()
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(moves().encode()).isEqualTo(before.encode()));
    b.leave();
    await().until(() -> owners().equals("aaaa"));
    await().untilAsserted(() -> assertThat(counted()).isEqualTo(8));
    assertThat(moves()).hasSize(8);
  }

  @Test
  void clusterMemberThatLeavesTakesItsConsumerAlong() {
    TestMember a = ownsAll();
    TestMember b = new TestMember("b");
    halfGoesFrom(a);
    b.silence();
    cluster.left("c-" + b.instance);
    await().until(() -> owners().equals("aaaa"));
  }

  /** The node has connections of these sessions. */
  private void connected(String... sessions) {
    vertx
        .eventBus()
        .<Buffer>consumer(
            Addresses.sessions("n1"),
            question -> {
              String session = new JsonObject(question.body()).getString("has");
              JsonObject answer = new JsonObject().put("has", List.of(sessions).contains(session));
              question.reply(JsonBodies.answer(answer));
            });
  }

  private void closed(String session) {
    JsonObject report = new JsonObject().put("session", session).put("node", "n1");
    vertx.eventBus().publish(Addresses.SESSIONS_ENDED, report.toBuffer());
  }

  /** Of a shard that b had. */
  private String reasonOfLastMove() throws Exception {
    return moves().getJsonObject(0).getString("reason");
  }

  private TestMember inSession(String name, String session) {
    TestMember member = new TestMember(name);
    member.connection = session;
    member.timeoutMillis = 7_000;
    return member;
  }

  @Test
  void sessionThatEndsTakesItsConsumerAlongAndOthersStay() throws Exception {
    connected("s-a");
    TestMember a = ownsAll(inSession("a", "s-a"));
    TestMember b = inSession("b", "s-b");
    halfGoesFrom(a);
    b.silence();
    vertx.eventBus().publish(Addresses.SESSIONS_ENDED, Buffer.buffer("nonsense"));
    // That one has another connection.
    closed("s-a");
    closed("s-b");
    await().until(() -> owners().equals("aaaa"));
    assertThat(reasonOfLastMove()).isEqualTo("member crashed");
    assertThat(refusal(b.beat(false))).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(refusal(a.beat(false))).isNull();
  }

  @Test
  void sessionThatWasTakenForEndedCountsAgainWhenANodeHasIt() {
    TestMember a = ownsAll(inSession("a", "s-a"));
    closed("s-a");
    await().until(() -> refusal(a.beat(false)) == Refusal.UNAVAILABLE);
    connected("s-a");
    await().until(() -> refusal(a.beat(false)) == null);
  }

  @Test
  void sessionThatEndsBeforeTheNextDispatcherBeginsIsNotForgotten() throws Exception {
    connected("s-a");
    TestMember a = ownsAll(inSession("a", "s-a"));
    TestMember b = inSession("b", "s-b");
    halfGoesFrom(a);
    FakeCluster.Table registry = (FakeCluster.Table) cluster.registry();
    await().until(() -> registry.entries.size() == 2);
    node.lead(new Leadership("n2", 2, false));
    b.silence();
    closed("s-b");
    lead(3);
    await().until(() -> owners().equals("aaaa"));
    assertThat(reasonOfLastMove()).isEqualTo("member crashed");
  }

  @Test
  void claimsOfSessionsAreSweptWhenNoNodeHasThem() {
    connected("s-new");
    TestMember a = ownsAll(new TestMember("a", GroupPolicy.of("sharded", null, null, "payload")));
    // No heartbeat has come from any of them.
    cluster.claimants().addAll(List.of("s-new", "s-old", "c-old", a.connection));
    await().until(() -> cluster.claimants().equals(Set.of("s-new", a.connection)));
  }

  @Test
  void servicesOfASessionThatIsBackKeepTheirKeys() {
    TestMember a = ownsAll(inSession("a", "s-a"));
    closed("s-a");
    await().until(() -> refusal(a.beat(false)) == Refusal.UNAVAILABLE);
    // Without its member, no heartbeat tells that it has a connection again.
    a.silence();
    connected("s-a");
    cluster.serviceClaimants().addAll(List.of("s-a", "s-old"));
    await().until(() -> !cluster.serviceClaimants().contains("s-old"));
    assertThat(cluster.serviceClaimants()).containsExactly("s-a");
  }

  private static KeyInFlight held(long key, String tail) {
    return new KeyInFlight(
        new DedupKey(0, key),
        new KeyInFlight.Place("c-a", 1_000),
        61_000,
        tail == null ? null : new KeyInFlight.Place(tail, 2_000));
  }

  @Test
  void keysThatAreHeldForLongAreInTheirMap() throws Exception {
    FakeCluster.Table keys = (FakeCluster.Table) cluster.dedupKeys();
    broker.featureLevel = FeatureLevel.DEDUP_KEYS;
    cluster.held(List.of(held(1, null), held(2, "c-b")));
    ownsAll(new TestMember("a", GroupPolicy.of("sharded", null, null, "payload")));
    String first = "00000000000000000000000000000001";
    String second = "00000000000000000000000000000002";
    await().until(() -> keys.entries.size() == 2);
    assertThat(keys.entries.get(first).encode())
        .isEqualTo(
            "{\"v\":1,\"state\":\"PROCESS\",\"clusterMember\":\"c-a\",\"sinceMillis\":1000,"
                + "\"overdueMillis\":61000}");
    assertThat(keys.entries.get(second).encode())
        .isEqualTo(
            "{\"v\":1,\"state\":\"BLOCK\",\"clusterMember\":\"c-a\",\"sinceMillis\":1000,"
                + "\"overdueMillis\":61000,\"waitingClusterMember\":\"c-b\","
                + "\"waitingSinceMillis\":2000}");
    await(keys.clear());
    keys.entries.put("hello", new JsonObject());
    await().until(() -> keys.entries.keySet().equals(Set.of(first, second)));
    cluster.held(List.of(held(2, null)));
    await()
        .until(
            () ->
                keys.entries.keySet().equals(Set.of(second))
                    && keys.entries.get(second).getString("state").equals("PROCESS"));
    cluster.held(List.of());
    await().until(keys.entries::isEmpty);
  }

  /** A node of the former version cannot answer. */
  @Test
  void whileVersionsDifferNobodyIsAskedForKeys() {
    broker.featureLevel = FeatureLevel.DEDUP_KEYS - 1;
    cluster.held(List.of(held(1, null)));
    ownsAll(new TestMember("a", GroupPolicy.of("sharded", null, null, "payload")));
    await().until(() -> cluster.sweeps() > 2);
    assertThat(cluster.looks()).isZero();
    broker.featureLevel = FeatureLevel.DEDUP_KEYS;
    await().until(() -> cluster.looks() > 0);
  }

  /** A program that hangs while its connections break relies on its claims for a while. */
  @Test
  void claimsOfServicesAreSweptLaterAndWithoutAnyGroup() {
    connected("s-new");
    lead(2);
    cluster.claimants().addAll(List.of("s-old"));
    cluster.serviceClaimants().addAll(List.of("s-new", "s-old"));
    await().until(() -> cluster.claimants().isEmpty());
    assertThat(cluster.serviceClaimants()).containsExactlyInAnyOrder("s-new", "s-old");
    Wait.until(() -> cluster.serviceClaimants().equals(Set.of("s-new")));
  }

  @Test
  void clearedMapsAreFilledAgainAndMoveNothing() throws Exception {
    ownsAll();
    FakeCluster.Table registry = (FakeCluster.Table) cluster.registry();
    FakeCluster.Table ownership = (FakeCluster.Table) cluster.ownership();
    await().until(() -> registry.entries.size() == 1 && ownership.entries.size() == 4);
    await(registry.clear());
    await(ownership.clear());
    await().until(() -> registry.entries.containsKey("g/a") && ownership.entries.size() == 4);
    assertThat(ownership.entries.get("g/t/0").getString("owner")).isEqualTo("a");
    assertThat(lease(0).epoch()).isEqualTo(1);
  }

  @Test
  void whatStrangersWriteToTheMapsIsOverwrittenAndMovesNothing() throws Exception {
    ownsAll();
    FakeCluster.Table registry = (FakeCluster.Table) cluster.registry();
    FakeCluster.Table ownership = (FakeCluster.Table) cluster.ownership();
    await().until(() -> registry.entries.size() == 1 && ownership.entries.size() == 4);
    JsonObject owner = ownership.entries.get("g/t/0");
    assertThat(owner.getInteger("v")).isEqualTo(1);
    // What is no JSON is read as an empty object.
    ownership.entries.put("g/t/0", new JsonObject());
    ownership.entries.put("g/t/1", owner.copy().put("shard", 1).put("owner", "somebody"));
    ownership.entries.put("hello", new JsonObject());
    registry.entries.put("g/a", new JsonObject());
    registry.entries.put("g/somebody", new JsonObject().put("group", "g"));
    await()
        .untilAsserted(
            () -> {
              assertThat(ownership.entries).hasSize(4).containsEntry("g/t/0", owner);
              assertThat(ownership.entries.get("g/t/1").getString("owner")).isEqualTo("a");
              assertThat(registry.entries).containsOnlyKeys("g/a");
              assertThat(registry.entries.get("g/a").getString("member")).isEqualTo("a");
            });
    assertThat(owners()).isEqualTo("aaaa");
    assertThat(lease(0).epoch()).isEqualTo(1);
  }

  @Test
  void aMemberInTheFormOfTheFormerVersionKeepsItsShards() throws Exception {
    TestMember a = ownsAll();
    FakeCluster.Table registry = (FakeCluster.Table) cluster.registry();
    await().until(() -> registry.entries.containsKey("g/a"));
    node.lead(new Leadership("n2", 2, false));
    a.silence();
    JsonObject former = registry.entries.get("g/a").copy();
    former.remove("v");
    registry.entries.put("g/a", former);
    lead(3);
    TestMember b = new TestMember("b");
    await().until(() -> b.told.size() > 0 && registry.entries.containsKey("g/b"));
    assertThat(registry.entries.get("g/a")).as("adopted").isEqualTo(former);
    assertThat(owners()).as("a counts as alive").isEqualTo("aaaa");
    await(a.beat(false));
    await().until(() -> Integer.valueOf(1).equals(registry.entries.get("g/a").getInteger("v")));
  }

  @Test
  void nobodyOwnsTheShardsOfADeletedTopic() throws Exception {
    ownsAll();
    FakeCluster.Table ownership = (FakeCluster.Table) cluster.ownership();
    await().until(() -> ownership.entries.size() == 4);
    broker.log.topics.clear();
    vertx.eventBus().publish(Addresses.TOPIC_CHANGES, "");
    await().until(ownership.entries::isEmpty);
  }

  @Test
  void nextTermGoesOnWithTheSameEpochs() throws Exception {
    TestMember a = ownsAll();
    Assignment before = await(a.beat(false));
    node.lead(new Leadership("n2", 2, false));
    assertThat(refusal(a.beat(false))).isEqualTo(Refusal.NOT_LEADER);
    await(cluster.registry().clear());
    lead(3);
    await().until(() -> refusal(a.beat(false)) == null);
    Assignment after = await(a.beat(false));
    assertThat(after.laterThan(before.term(), before.revision())).isTrue();
    assertThat(after.shards()).isEqualTo(before.shards());
  }

  private Heartbeat levelBeat(String group, String member, String topic, String user, String home) {
    return with(
        Heartbeats.beat(group, member, "run-of-alice", 100),
        JsonObject.of("user", user, "home", home, "topics", List.of(topic))
            .put("policy", GroupPolicy.of(GroupPolicy.MODE_LEVEL, 10, null, null))
            .put("memberTimeoutMillis", 60_000L)
            .put("lockTimeMillis", 0L)
            .put("wishes", new Heartbeat.Wishes(null, null, 0, null, null, null, null)));
  }

  private Future<Assignment> levelBeatOf(String group, String member, String user, String home) {
    return levelBeatOf(group, member, "t", user, home);
  }

  private Future<Assignment> levelBeatOf(
      String group, String member, String topic, String user, String home) {
    return vertx
        .eventBus()
        .<Buffer>request(
            Addresses.dispatcher("n1"),
            levelBeat(group, member, topic, user, home).toJson().toBuffer(),
            new DeliveryOptions().addHeader(Frames.USER, user))
        .map(answer -> Assignment.fromJson(new JsonObject(text(answer))));
  }

  /** The relay of that node tells that it was asked, and refuses for now. */
  private void relayOf(String home, Runnable asked) {
    vertx
        .eventBus()
        .consumer(
            Addresses.relay(home),
            question -> {
              question.reply(Frames.refusal(Refusal.UNAVAILABLE, "not yet"));
              asked.run();
            });
  }

  /**
   * Whoever knows the instance of another user's member cannot send its messages elsewhere: neither
   * in that member's name nor as a member of that or another group.
   */
  @Test
  void aHeartbeatOfAnotherUserDoesNotSayWhereALevelMemberListens() throws Exception {
    List<String> asked = new CopyOnWriteArrayList<>();
    for (String home : List.of("alices", "bobs")) {
      // It is asked again soon.
      relayOf(home, () -> asked.add(home));
    }
    lead(1);
    Wait.untilAsserted(
        () -> assertThat(refusal(levelBeatOf("g", "m", "alice", "alices"))).isNull());
    await().untilAsserted(() -> assertThat(asked).contains("alices"));
    assertThat(refusal(levelBeatOf("g", "m", "bob", "bobs"))).isEqualTo(Refusal.FORBIDDEN);
    assertThat(refusal(levelBeatOf("g", "n", "bob", "bobs"))).isEqualTo(Refusal.FORBIDDEN);
    int before = asked.size();
    await().untilAsserted(() -> assertThat(asked).hasSizeGreaterThan(before + 2));
    assertThat(asked).containsOnly("alices");
    // Her program has come to another node.
    assertThat(refusal(levelBeatOf("g", "m", "alice", "bobs"))).isNull();
    await().untilAsserted(() -> assertThat(asked).contains("bobs"));
  }

  /** Its pattern matches nothing so far. */
  @Test
  void aLevelGroupWithoutTopicsGetsNoDispatcher() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(LevelDispatcher.class);
    ListAppender<ILoggingEvent> told = new ListAppender<>();
    told.start();
    Level usual = logger.getLevel();
    logger.setLevel(Level.WARN);
    logger.addAppender(told);
    try {
      CompletableFuture<Void> asked = new CompletableFuture<>();
      relayOf("home", () -> asked.complete(null));
      lead(1);
      Wait.untilAsserted(
          () -> assertThat(refusal(levelBeatOf("p", "m", "z*", "alice", "home"))).isNull());
      Wait.untilAsserted(
          () -> assertThat(refusal(levelBeatOf("g", "m", "alice", "home"))).isNull());
      // By now it has been looked which groups need a dispatcher.
      asked.get(60, TimeUnit.SECONDS);
      assertThat(told.list).isEmpty();
    } finally {
      logger.detachAppender(told);
      logger.setLevel(usual);
    }
  }

  @Test
  void unknownGroupsAndTopicsAreRefused() {
    lead(1);
    Wait.untilAsserted(
        () ->
            assertThat(refusal(ask(Addresses.groups("n1"), new JsonObject().put("group", "no"))))
                .isEqualTo(Refusal.UNKNOWN_GROUP));
    Heartbeat beat = Heartbeats.with(Heartbeats.beat("g", "a", "a1", 1), "topics", List.of("none"));
    assertThat(refusal(beat(beat))).isEqualTo(Refusal.UNKNOWN_TOPIC);
  }

  @Test
  void topicThatAppearsIsTakenUp() {
    ownsAll();
    synchronized (broker.log) {
      broker.log.topics.clear();
      broker.log.topic(1, "t", 5);
    }
    vertx.eventBus().publish(Addresses.TOPIC_CHANGES, Buffer.buffer());
    await().until(() -> lease(4) != null && "a".equals(lease(4).owner()));
  }

  @Test
  void groupLeasesAreReadTakenAndLetGo() throws Exception {
    Promise<Brokers> made = Promise.promise();
    vertx.runOnContext(go -> made.complete(new Brokers(vertx, "n1", 60_000)));
    Brokers brokers = await(made.future());
    assertThat(await(brokers.groupLeases())).isEmpty();
    GroupLease held = new GroupLease("g", 1, "dispatcher@n1", "i");
    assertThat(
            await(
                brokers.submitMeta(
                    new MetaCommand.GrantGroupLease("g", "dispatcher@n1", "i", 0, 0))))
        .isEqualTo(new Reply.OfGroupLease(held));
    assertThat(await(brokers.groupLeases())).containsExactly(held);
    assertThat(
            await(
                brokers.submitMeta(
                    new MetaCommand.GrantGroupLease("g", "dispatcher@n2", "j", 0, 0))))
        .isInstanceOfSatisfying(
            Reply.Refused.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.FENCED));
    assertThat(await(brokers.submitMeta(new MetaCommand.ReleaseGroupLease("g", "i", 1))))
        .isEqualTo(new Reply.OfGroupLease(held.released()));
  }

  @Test
  void aQuestionThatComesAfterTheEndDoesNotActivateIt() {
    node.lead(new Leadership("n1", 1, true));
    LocalDispatcher local = LocalObjects.get(vertx, LocalDispatcher.class);
    List.copyOf(vertx.deploymentIDs()).forEach(id -> await(vertx.undeploy(id)));
    Refused.with(Refusal.UNAVAILABLE, () -> await(local.groups().hasMembers("g")))
        .hasMessageContaining("the dispatcher is stopping");
  }
}
