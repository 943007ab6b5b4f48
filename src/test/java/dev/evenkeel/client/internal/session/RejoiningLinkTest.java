package dev.evenkeel.client.internal.session;

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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RejoiningLinkTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int RESTARTS = Integer.getInteger("evenkeel.restarts", 3);

  private final int port = TestPorts.take(3);
  private ClusterMember node;
  private Link link;

  @AfterEach
  void close() {
    if (link != null) {
      result(link.close());
    }
    if (node != null) {
      result(node.close());
    }
  }

  @Test
  void worksAgainAfterEachRestartOfTheNode() {
    startNode();
    link = connect();
    List<String> heard = new CopyOnWriteArrayList<>();
    Link.Listening listening = link.listen("here", body -> heard.add(body.toString()));
    result(listening.registered());
    List<Boolean> onLinksVertx = new CopyOnWriteArrayList<>();
    result(
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
      result(node.close());
      await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
      assertThat(link.clusterMember()).isNull();
      assertThatThrownBy(() -> result(link.request("echo", Buffer.buffer("x"), 1_000)))
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
      Buffer answer = result(VertxLink.send(node.vertx(), "served", Buffer.buffer(text), 30_000));
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
    assertThat(result(same)).isTrue();
  }

  @Test
  void aRequestToNobodyIsUnavailable() {
    startNode();
    link = connect();
    assertThatThrownBy(() -> result(link.request("nobody", Buffer.buffer("x"), 30_000)))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.UNAVAILABLE));
    assertThat(link.state()).isEqualTo(Link.State.CONNECTED);
  }

  @Test
  void unansweredRequestsMakeItJoinAfresh() {
    startNode();
    result(node.vertx().eventBus().consumer("silent", message -> {}).completion());
    link = connect();
    String before = link.clusterMember();
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> result(link.request("silent", Buffer.buffer("x"), 50)))
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
    result(node.close());
    node = null;
    await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
    result(link.close());
    assertThat(link.state()).isEqualTo(Link.State.CLOSED);
  }

  @Test
  void withoutANodeConnectingFails() {
    ClientOptions options =
        new ClientOptions().setSeeds(List.of("127.0.0.1:" + port)).setConnectTimeoutMillis(200);
    assertThatThrownBy(() -> result(Evenkeel.connect(options)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("127.0.0.1:" + port);
    assertThatThrownBy(
            () -> result(Evenkeel.connect(new ClientOptions().setSeeds(List.of("nonsense")))))
        .hasMessageContaining("write HOST:PORT");
  }

  @Test
  void anApplicationsOwnVertxToldOfTheLoss() {
    startNode();
    ClusterMember own =
        result(ClusterMembers.client(dev.evenkeel.cluster.ClientSettings.local(port)));
    EvenkeelClient client = result(Evenkeel.with(own.vertx()));
    assertThat(
            result(EvenkeelClientImpl.linkOf(client).request("echo", Buffer.buffer("x"), 30_000))
                .toString())
        .isEqualTo("x");
    result(node.close());
    node = null;
    await().atMost(LONG).until(() -> EvenkeelClientImpl.linkOf(client).state() == Link.State.LOST);
    result(client.close());
    result(own.close());
  }

  private String echo(String text) {
    try {
      return result(link.request("echo", Buffer.buffer(text), 500)).toString();
    } catch (RefusedException refused) {
      return refused.toString();
    }
  }

  private void startNode() {
    node = result(ClusterMembers.node(NodeSettings.lone(port)));
    result(
        node.vertx()
            .eventBus()
            .consumer("echo", message -> message.reply(message.body()))
            .completion());
  }

  private Link connect() {
    return result(Evenkeel.link(new ClientOptions().setSeeds(List.of("127.0.0.1:" + port))));
  }

  private static <T> T result(Future<T> future) {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(LONG.toSeconds(), TimeUnit.SECONDS);
    } catch (java.util.concurrent.ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new AssertionError(e.getCause());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
