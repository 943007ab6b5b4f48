package dev.evenkeel.dispatcher;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Looks at groups in a cluster that has many. */
class GroupLooksTest {
  private static final int OTHERS = 3_000;

  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeCluster cluster = new FakeCluster(vertx);
  private final FakeCluster.Node node = new FakeCluster.Node();
  private final FakeBroker broker =
      new FakeBroker(vertx, new ModelLog().topic(1, "evil", 4).topic(2, "orders", 2));

  @BeforeEach
  void start() {
    IntStream.range(0, OTHERS).forEach(i -> declare("evil-" + i, "evil"));
    declare("shop", "orders");
    LocalObjects.put(vertx, LogNode.class, node.log());
    LocalObjects.put(vertx, ClusterMember.class, cluster);
    await(
        vertx.deployVerticle(
            DispatcherVerticle.class.getName(),
            new DeploymentOptions()
                // It reads shards only when it is asked.
                .setConfig(JsonObject.of("rebalanceMillis", 600_000))));
    node.lead(new Leadership("n1", 1, true));
    Wait.until("the dispatcher has begun", () -> list(GroupScope.ALL).succeeded());
  }

  private void declare(String group, String topic) {
    synchronized (broker.log) {
      broker.log.apply(
          Commands.declareGroup(
              group, GroupPolicy.SHARDED, List.of(topic), StartAt.EARLIEST, false),
          0);
    }
  }

  private Future<Buffer> ask(Record question) {
    return vertx
        .eventBus()
        .<Buffer>request(Addresses.groups("n1"), GroupQuestions.request(question))
        .map(answer -> Buffer.buffer(Frames.copy(Frames.answerBody(answer.body())).getBytes()));
  }

  /** A list that is there. */
  private Future<JsonArray> list(GroupScope scope) {
    Future<JsonArray> list = ask(new GroupQuestions.Look(null, scope)).map(Buffer::toJsonArray);
    Wait.until("an answer", list::isComplete);
    return list;
  }

  private static List<String> names(JsonArray list) {
    return list.stream().map(each -> ((JsonObject) each).getString("group")).toList();
  }

  @Test
  void aListHasTheGroupsThatItIsAbout() {
    assertThat(names(await(list(GroupScope.ALL)))).hasSize(OTHERS + 1).contains("shop", "evil-7");
    GroupScope shop = new GroupScope(List.of("evil-77", "shop*"), List.of());
    assertThat(names(await(list(shop)))).containsExactly("evil-77", "shop");
    int reads = broker.reads.get();
    assertThat(await(list(GroupScope.NONE))).isEmpty();
    assertThat(broker.reads.get()).as("there is nothing to read").isEqualTo(reads);
  }

  @Test
  void aLiveViewHasTheGroupsAndTopicsThatItIsAbout() {
    GroupScope shop = new GroupScope(List.of("shop"), List.of("orders"));
    JsonObject facts =
        await(ask(new GroupQuestions.Live(null, shop))).toJsonObject().getJsonObject("facts");
    assertThat(names(facts.getJsonArray("groups"))).containsExactly("shop");
    assertThat(facts.getJsonArray("topics"))
        .map(JsonObject.class::cast)
        .filteredOn(topic -> topic.getString("name").equals("orders"))
        .singleElement()
        .satisfies(topic -> assertThat(topic.getLong("end")).isZero());
    JsonObject all =
        await(ask(new GroupQuestions.Live(null, null))).toJsonObject().getJsonObject("facts");
    assertThat(names(all.getJsonArray("groups"))).hasSize(OTHERS + 1);
  }

  @Test
  void manyWhoAskAtOnceShareALook() {
    int reads = broker.reads.get();
    List<Future<Buffer>> lists = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      lists.add(ask(new GroupQuestions.Look(null, null)));
    }
    await(Future.all(lists));
    lists.forEach(each -> assertThat(each.result().toJsonArray()).hasSize(OTHERS + 1));
    assertThat(broker.reads.get() - reads).as("in two data groups").isLessThanOrEqualTo(4);
    assertThat(await(list(GroupScope.ALL))).as("and it goes on").hasSize(OTHERS + 1);
  }
}
