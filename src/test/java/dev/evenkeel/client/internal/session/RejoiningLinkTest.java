package dev.evenkeel.client.internal.session;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestPorts;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.NodeSettings;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RejoiningLinkTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int RESTARTS = Integer.getInteger("evenkeel.restarts", 3);

  private final int port = TestPorts.take(4);
  private ClusterMember node;
  private Link link;

  @AfterEach
  void close() {
    if (link != null) {
      await(link.close());
    }
    if (node != null) {
      await(node.close());
    }
  }

  @Test
  void worksAgainAfterEachRestartOfTheNode() {
    startNode();
    link = connect();
    List<String> heard = new CopyOnWriteArrayList<>();
    Link.Listening listening = link.listen("here", body -> heard.add(body.toString()));
    await(listening.registered());
    List<Boolean> onLinksVertx = new CopyOnWriteArrayList<>();
    await(
        link.serve(
                "served",
                request -> {
                  onLinksVertx.add(io.vertx.core.Vertx.currentContext().owner() == link.vertx());
                  return Future.succeededFuture(request.copy().appendString("!"));
                })
            .registered());
    List<Link.State> states = new CopyOnWriteArrayList<>();
    link.onState(states::add);

    for (int restart = 1; restart <= RESTARTS; restart++) {
      String text = "restart " + restart;
      await(node.close());
      await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
      assertThat(link.clusterMember()).isNull();
      assertThatThrownBy(() -> await(link.request("echo", Buffer.buffer("x"), 1_000)))
          .isInstanceOfSatisfying(
              RefusedException.class,
              refused -> assertThat(refused.refusal()).isEqualTo(Refusal.UNAVAILABLE));
      startNode();
      long ready = System.nanoTime();
      await().atMost(LONG).pollInterval(Duration.ofMillis(20)).until(() -> text.equals(echo(text)));
      System.out.printf(
          "link answers %d ms after node was ready%n", (System.nanoTime() - ready) / 1_000_000);
      await()
          .atMost(LONG)
          .until(
              () -> {
                node.vertx().eventBus().publish("here", Buffer.buffer(text));
                return heard.contains(text);
              });
      // It sends before it is reached at all addresses, and is connected only then.
      await().atMost(LONG).until(() -> link.state() == Link.State.CONNECTED);
      Buffer answer = await(VertxLink.send(node.vertx(), "served", Buffer.buffer(text), 30_000));
      assertThat(answer.toString()).isEqualTo(text + "!");
    }
    assertThat(onLinksVertx).hasSize(RESTARTS).containsOnly(true);
    // A slow machine may keep its requests unanswered for so long that it joins once more.
    await().atMost(LONG).until(() -> states.size() >= 2 * RESTARTS && states.size() % 2 == 0);
    assertThat(states.size()).isLessThanOrEqualTo(2 * RESTARTS + 4);
    for (int i = 0; i < states.size(); i++) {
      assertThat(states.get(i)).isEqualTo(i % 2 == 0 ? Link.State.LOST : Link.State.CONNECTED);
    }
  }

  @Test
  void answersOnTheCallersContext() {
    startNode();
    link = connect();
    Context context = link.vertx().getOrCreateContext();
    Future<Boolean> same =
        Future.future(
            promise ->
                context.runOnContext(
                    none ->
                        link.request("echo", Buffer.buffer("x"), 30_000)
                            .onComplete(
                                answered ->
                                    promise.complete(
                                        io.vertx.core.Vertx.currentContext() == context))));
    assertThat(await(same)).isTrue();
  }

  @Test
  void aRequestToNobodyIsUnavailable() {
    startNode();
    link = connect();
    assertThatThrownBy(() -> await(link.request("nobody", Buffer.buffer("x"), 30_000)))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.UNAVAILABLE));
    assertThat(link.state()).isEqualTo(Link.State.CONNECTED);
  }

  @Test
  void unansweredRequestsMakeItJoinAfresh() {
    startNode();
    await(node.vertx().eventBus().consumer("silent", message -> {}).completion());
    link = connect();
    String before = link.clusterMember();
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> await(link.request("silent", Buffer.buffer("x"), 50)))
          .isInstanceOfSatisfying(
              RefusedException.class,
              refused -> assertThat(refused.refusal()).isEqualTo(Refusal.INDETERMINATE));
    }
    await()
        .atMost(LONG)
        .until(() -> link.clusterMember() != null && !before.equals(link.clusterMember()));
    await().atMost(LONG).until(() -> echo("again").equals("again"));
  }

  @Test
  void closesWhileItIsLost() {
    startNode();
    link = connect();
    await(node.close());
    node = null;
    await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
    await(link.close());
    assertThat(link.state()).isEqualTo(Link.State.CLOSED);
  }

  @Test
  void withoutANodeConnectingFails() {
    ClientOptions options =
        new ClientOptions().setSeeds(List.of("127.0.0.1:" + port)).setConnectTimeoutMillis(200);
    assertThatThrownBy(() -> await(Evenkeel.connect(options)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("127.0.0.1:" + port);
    assertThatThrownBy(
            () -> await(Evenkeel.connect(new ClientOptions().setSeeds(List.of("nonsense")))))
        .hasMessageContaining("write HOST:PORT");
  }

  @Test
  void anApplicationsOwnVertxToldOfTheLoss() {
    startNode();
    ClusterMember own =
        await(ClusterMembers.client(dev.evenkeel.cluster.ClientSettings.local(port)));
    EvenkeelClient client = await(Evenkeel.with(own.vertx()));
    assertThat(
            await(EvenkeelClientImpl.linkOf(client).request("echo", Buffer.buffer("x"), 30_000))
                .toString())
        .isEqualTo("x");
    await(node.close());
    node = null;
    await().atMost(LONG).until(() -> EvenkeelClientImpl.linkOf(client).state() == Link.State.LOST);
    await(client.close());
    await(own.close());
  }

  private String echo(String text) {
    try {
      return await(link.request("echo", Buffer.buffer(text), 500)).toString();
    } catch (RefusedException refused) {
      return refused.toString();
    }
  }

  private void startNode() {
    node = await(ClusterMembers.node(NodeSettings.lone(port)));
    await(
        node.vertx()
            .eventBus()
            .consumer("echo", message -> message.reply(message.body()))
            .completion());
  }

  private Link connect() {
    return await(Evenkeel.link(new ClientOptions().setSeeds(List.of("127.0.0.1:" + port))));
  }
}
