package dev.evenkeel.client.internal.session;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.Welcome;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConnectionState;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.tls.TlsException;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.netty.channel.ChannelOption;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SessionLinkTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private final Vertx vertx = Vertx.vertx();
  private final FakeNode n1 = new FakeNode(vertx, "n1", TestPorts.take(1));
  private final FakeNode n2 = new FakeNode(vertx, "n2", TestPorts.take(1));
  private Link link;

  @AfterEach
  void close() {
    if (link != null) {
      await(link.close());
    }
    await(vertx.close());
  }

  @Test
  void saysHelloAndSendsRequestsToTheNode() {
    connected();
    assertThat(link.state()).isEqualTo(Link.State.CONNECTED);
    assertThat(echo("evenkeel.api.topics", "hello")).isEqualTo("hello");
    Hello hello = n1.hellos.get(0);
    assertThat(hello.session()).matches("s-[0-9a-f]{32}").isEqualTo(link.clusterMember());
    assertThat(hello.cluster()).isEqualTo("evenkeel");
    assertThat(hello.versions()).containsExactly(1);
    assertThat(hello.client()).startsWith("evenkeel-java ");
    assertThat(refusal(link.request(FakeNode.NOBODY, Buffer.buffer(), 30_000)))
        .isEqualTo(Refusal.UNAVAILABLE);
  }

  @Test
  void aLargeAnswerReachesTheCallersContext() {
    connected();
    Context context = link.vertx().getOrCreateContext();
    Buffer large = Buffer.buffer(new byte[3 << 20]).setByte(2 << 20, (byte) 7);
    Future<Boolean> same =
        Future.future(
            promise ->
                context.runOnContext(
                    none ->
                        link.request(Addresses.data("n1"), large, 30_000)
                            .onComplete(
                                answered ->
                                    promise.complete(
                                        Vertx.currentContext() == context
                                            && large.equals(answered.result())))));
    assertThat(await(same)).isTrue();
  }

  @Test
  void connectsToAnySeedThatAnswers() {
    n2.start();
    FakeNode hangs = new FakeNode(vertx, "n3", TestPorts.take(1)).start();
    hangs.silent = true;
    link = connect(n1, hangs, n2);
    assertThat(echo("echo", "x")).isEqualTo("x");
  }

  @Test
  void namesEverySeedAndWhyItDidNotAnswer() {
    n2.refusal = "cluster 'other'";
    n2.start();
    Refused.with(
        Refusal.UNAVAILABLE,
        () -> await(Evenkeel.connect(options(n1, n2).setConnectTimeoutMillis(3_000))),
        "127.0.0.1:" + n1.port + " takes no connections",
        "127.0.0.1:" + n2.port + " refused: cluster 'other'",
        "within 3000 ms");
  }

  /** The address is for documentation: nobody answers there, and nobody is asked. */
  @Test
  void aTokenIsNotSentInClearTextToAnotherMachine(@TempDir Path directory) throws Exception {
    Path token = Files.writeString(directory.resolve("token"), "secret");
    ClientOptions elsewhere =
        new ClientOptions().setSeeds(List.of("192.0.2.1:5701")).setTokenFile(token.toString());
    Refused.with(
        Refusal.UNAVAILABLE, () -> await(Evenkeel.connect(elsewhere)), "clear text", "setCa");
    n1.start();
    await(Evenkeel.connect(options(n1).setTokenFile(token.toString()))).close();
    assertThat(n1.hellos.get(0).token()).isEqualTo("secret");
  }

  @Test
  void aSeedThatIsMalformedOrMissingIsInvalid() {
    assertThatThrownBy(
            () -> await(Evenkeel.connect(new ClientOptions().setSeeds(List.of("nonsense")))))
        .hasMessageContaining("write HOST:PORT");
    assertThatThrownBy(() -> await(Evenkeel.connect(new ClientOptions().setSeeds(List.of()))))
        .hasMessageContaining("name at least one HOST:PORT");
  }

  @Test
  void theHttpPortIsRecognizedAtOnce() {
    await(
        vertx
            .createHttpServer()
            .requestHandler(request -> request.response().end())
            .listen(n1.port, FakeNode.HOST));
    // The time of a test would be over before the timeout.
    assertThatThrownBy(
            () -> await(Evenkeel.connect(options(n1).setConnectTimeoutMillis(10 * 60_000))))
        .hasMessageContaining("127.0.0.1:" + n1.port + " sent an HTTP answer")
        .hasMessageContaining("name the base port of a node");
  }

  @Test
  void aPortThatIsNoClientPortIsNamedWithWhatWouldBeRight() {
    notANode(socket -> socket.handler(bytes -> socket.close()));
    assertThatThrownBy(() -> await(Evenkeel.connect(options(n1).setConnectTimeoutMillis(500))))
        .hasMessageContaining("127.0.0.1:" + n1.port + " closed the connection")
        .hasMessageContaining("name the base port of a node");
  }

  @Test
  void aNodeThatSpeaksTlsIsToldFromAWrongPortAtOnce() {
    byte[] alert = {21, 3, 3, 0, 2, 2, 10};
    notANode(socket -> socket.handler(hello -> socket.end(Buffer.buffer(alert))));
    assertThatThrownBy(() -> await(Evenkeel.connect(patient(n1))))
        .hasMessageContaining("127.0.0.1:" + n1.port + " speaks TLS")
        .hasMessageContaining("with ClientOptions.setCa")
        .hasMessageNotContaining("base port")
        .hasMessageNotContaining("Start one there");
  }

  /** Where n1 was to be, something else listens. */
  private void notANode(Handler<NetSocket> what) {
    await(vertx.createNetServer().connectHandler(what).listen(n1.port, FakeNode.HOST));
  }

  private void connected() {
    n1.start();
    link = connect(n1);
  }

  /** With a connect timeout that no test waits for. */
  private ClientOptions patient(FakeNode node) {
    return options(node).setConnectTimeoutMillis(10 * 60_000);
  }

  @Test
  void aNodeWithoutTlsIsNamedWhenTheClientSpeaksIt() {
    // A node says GOODBYE in plain text.
    notANode(socket -> socket.handler(begin -> socket.end(Buffer.buffer("GOODBYE"))));
    String ca = TestCertificates.OURS.resolve("clients/ca.crt").toString();
    assertThatThrownBy(() -> await(Evenkeel.connect(patient(n1).setCa(ca))))
        .hasMessageContaining("does not answer with TLS (plain text came)")
        .hasMessageContaining("leave out ClientOptions.setCa");
  }

  @Test
  void anUnknownAuthorityIsNamedWithWhatWouldBeRight() throws TlsException {
    TlsIdentity identity = TlsIdentity.open(TlsFiles.in(TestCertificates.OURS.resolve("clients")));
    NetServerOptions options =
        new NetServerOptions()
            .setSsl(true)
            .setKeyCertOptions(KeyCertOptions.wrap(identity.keyManager()));
    await(
        vertx.createNetServer(options).connectHandler(socket -> {}).listen(n1.port, FakeNode.HOST));
    String ca = TestCertificates.FOREIGN.resolve("clients/ca.crt").toString();
    assertThatThrownBy(() -> await(Evenkeel.connect(patient(n1).setCa(ca))))
        .hasMessageContaining("a certificate that is not trusted")
        .hasMessageContaining("of its authority with ClientOptions.setCa");
  }

  @Test
  void aConnectionThatBreaksBeforeTheWelcomeMayBeOfAWrongPort() {
    notANode(
        socket ->
            socket.handler(
                hello -> {
                  // So that closing it is a reset.
                  ((NetSocketInternal) socket)
                      .channelHandlerContext()
                      .channel()
                      .config()
                      .setOption(ChannelOption.SO_LINGER, 0);
                  socket.close();
                }));
    assertThatThrownBy(() -> await(Evenkeel.connect(options(n1).setConnectTimeoutMillis(1_000))))
        .hasMessageContaining("broke the connection instead of a WELCOME")
        .hasMessageContaining("name the base port of a node");
  }

  @Test
  void aRequestForANodeGoesToThatNodeAndUntilThenOverAnother() {
    cluster(n1, n2);
    connected();
    assertThat(echo(Addresses.data("n2"), "relayed")).isEqualTo("relayed");
    assertThat(n1.requests).containsExactly(Addresses.data("n2"));
    n2.start();
    Wait.until(
        () -> {
          assertThat(echo(Addresses.control("n2"), "x")).isEqualTo("x");
          return n2.requests.contains(Addresses.control("n2"));
        });
    assertThat(n2.hellos.get(0).session()).isEqualTo(link.clusterMember());
    assertThat(echo(Addresses.data("n1"), "x")).isEqualTo("x");
    assertThat(n1.requests).contains(Addresses.data("n1"));
    assertThat(n2.requests).doesNotContain(Addresses.data("n1"));
  }

  /** As behind a load balancer: every node has the same address. */
  @Test
  void whereTheAddressOfANodeLeadsToAnotherTheRequestsAreRelayed() {
    n1.welcome =
        new Welcome(
            1,
            "n1",
            "",
            List.of(
                new NodePlace("n1", FakeNode.HOST, n1.port),
                new NodePlace("n2", FakeNode.HOST, n1.port)),
            FakeNode.LIMITS);
    connected();
    await().atMost(LONG).until(() -> n1.goodbyes.size() >= 2);
    assertThat(echo(Addresses.data("n2"), "x")).isEqualTo("x");
    assertThat(link.state()).isEqualTo(Link.State.CONNECTED);
  }

  @Test
  void questionsForAViewTakeTurns() {
    cluster(n1, n2);
    n2.start();
    connected();
    await().atMost(LONG).until(() -> n1.connections() == 1 && n2.connections() == 1);
    Wait.until(
        () -> {
          n1.requests.clear();
          n2.requests.clear();
          times(4, i -> echo(Addresses.VIEW, ""));
          return n1.requests.size() == 2 && n2.requests.size() == 2;
        });
  }

  @Test
  void comesBackAsAnotherSessionAndListensAgainWhenANodeIsBack() {
    connected();
    List<String> heard = new CopyOnWriteArrayList<>();
    List<Link.State> states = new CopyOnWriteArrayList<>();
    link.onState(states::add);
    await(link.listen("here", body -> heard.add(body.toString())).registered());
    for (int restart = 1; restart <= 3; restart++) {
      String before = link.clusterMember();
      n1.stop();
      await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
      assertThat(link.clusterMember()).isNull();
      assertThat(refusal(link.request("echo", Buffer.buffer(), 30_000)))
          .isEqualTo(Refusal.UNAVAILABLE);
      n1.start();
      await().atMost(LONG).until(() -> link.state() == Link.State.CONNECTED);
      assertThat(n1.listens).as("announced only then").containsExactly("here");
      assertThat(link.clusterMember()).isNotNull().isNotEqualTo(before);
      String text = "restart " + restart;
      n1.publish("here", text);
      await().atMost(LONG).until(() -> heard.contains(text));
      assertThat(echo("echo", text)).isEqualTo(text);
    }
    await().atMost(LONG).until(() -> states.size() == 6);
    assertThat(states)
        .isEqualTo(
            Stream.generate(() -> List.of(Link.State.LOST, Link.State.CONNECTED))
                .limit(3)
                .flatMap(Collection::stream)
                .toList());
  }

  @Test
  void itsSessionOutlivesTheLossOfOneNode() {
    cluster(n1, n2);
    n2.start();
    connected();
    List<Link.State> states = new CopyOnWriteArrayList<>();
    link.onState(states::add);
    String session = link.clusterMember();
    await(link.serve("here", request -> Future.succeededFuture(request)).registered());
    assertThat(n1.listens).containsExactly("here");
    await().atMost(LONG).until(() -> n2.connections() == 1);
    n1.stop();
    await().atMost(LONG).until(() -> n2.listens.contains("here"));
    assertThat(await(n2.ask("here", "x")).toString()).isEqualTo("x");
    await().atMost(LONG).until(() -> echo("echo", "x").equals("x"));
    assertThat(link.clusterMember()).isEqualTo(session);
    assertThat(states).isEmpty();
    n1.start();
    await().atMost(LONG).until(() -> n1.connections() == 1);
  }

  @Test
  void comesBackByANodeThatItHasLearned() {
    cluster(n1, n2);
    connected();
    n1.stop();
    await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
    n2.start();
    await().atMost(LONG).until(() -> link.state() == Link.State.CONNECTED);
    assertThat(n2.hellos).isNotEmpty();
  }

  @Test
  void answersWhatIsPushedAndGivesFailuresBackAsRefusals() {
    connected();
    List<Boolean> onLinksVertx = new CopyOnWriteArrayList<>();
    Link.Listening served =
        link.serve(
            "served",
            request -> {
              onLinksVertx.add(Vertx.currentContext().owner() == link.vertx());
              return switch (request.toString()) {
                case "fails" -> Future.failedFuture(Refusal.FENCED.error("too late"));
                case "throws" -> throw new IllegalStateException("a bug");
                default -> Future.succeededFuture(request.copy().appendString("!"));
              };
            });
    await(served.registered());
    assertThat(await(n1.ask("served", "x")).toString()).isEqualTo("x!");
    assertThat(refusalIn(await(n1.ask("served", "fails")))).isEqualTo(Refusal.FENCED);
    assertThat(refusalIn(await(n1.ask("served", "throws")))).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(onLinksVertx).hasSize(3).containsOnly(true);
    served.end();
    await().atMost(LONG).until(() -> n1.listens.isEmpty());
  }

  @Test
  void severalListenAtOneAddressAndTheLastEndsIt() {
    connected();
    List<String> heard = new CopyOnWriteArrayList<>();
    Link.Listening first = link.listen("here", body -> heard.add("first " + body));
    Link.Listening second = link.listen("here", body -> heard.add("second " + body));
    await(first.registered());
    await(second.registered());
    n1.publish("here", "a");
    await().atMost(LONG).until(() -> heard.containsAll(List.of("first a", "second a")));
    assertThat(n1.listens).containsExactly("here");
    first.end();
    n1.publish("here", "b");
    await().atMost(LONG).until(() -> heard.contains("second b"));
    assertThat(heard).doesNotContain("first b");
    Link.Listening third = link.listen("here", body -> heard.add("third " + body));
    await(third.registered());
    second.end();
    third.end();
    await().atMost(LONG).until(() -> n1.listens.isEmpty());
  }

  @Test
  void asksAgainToListenUntilTheNodeCan() {
    n1.listenRefusal = Refusal.UNAVAILABLE;
    connected();
    Link.Listening listening = link.listen("here", body -> {});
    await().atMost(LONG).until(() -> echo("echo", "x").equals("x"));
    assertThat(listening.registered().isComplete()).isFalse();
    n1.listenRefusal = null;
    await(listening.registered());
  }

  @Test
  void anAddressAtWhichNoClientMayListenIsAnError() {
    n1.listenRefusal = Refusal.INVALID;
    connected();
    assertThat(refusal(link.listen("secret", body -> {}).registered())).isEqualTo(Refusal.INVALID);
  }

  @Test
  void requestsInFlightWhenTheConnectionBreaksMayHaveHadAnEffect() {
    n1.holding = true;
    connected();
    Future<Buffer> asked = link.request("echo", Buffer.buffer(), 10 * 60_000);
    await().atMost(LONG).until(() -> !n1.requests.isEmpty());
    n1.cut();
    assertThat(refusal(asked)).isEqualTo(Refusal.INDETERMINATE);
  }

  @Test
  void everyRequestIsAnsweredWhileConnectionsBreak() throws Exception {
    connected();
    int threads = 3;
    int requests = 3_000;
    ConcurrentLinkedQueue<Future<Buffer>> asked = new ConcurrentLinkedQueue<>();
    CountDownLatch ended = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      new Thread(
              () -> {
                for (int request = 0; request < requests; request++) {
                  asked.add(link.request("echo", Buffer.buffer("x"), 60_000));
                }
                ended.countDown();
              })
          .start();
    }
    while (!ended.await(5, TimeUnit.MILLISECONDS)) {
      n1.cut();
    }
    assertThat(asked).hasSize(threads * requests);
    asked.forEach(each -> await(each.otherwiseEmpty()));
    await().atMost(LONG).until(() -> link.state() == Link.State.CONNECTED);
    assertThat(echo("echo", "x")).isEqualTo("x");
  }

  @Test
  void aRequestThatIsNotAnsweredInTimeMayHaveHadAnEffect() {
    n1.holding = true;
    connected();
    String session = link.clusterMember();
    for (int i = 0; i < KeepAlive.UNANSWERED_MAX + 1; i++) {
      assertThat(refusal(link.request("echo", Buffer.buffer(), 50)))
          .isEqualTo(Refusal.INDETERMINATE);
    }
    await().atMost(LONG).until(() -> n1.pings.get() > 0);
    n1.holding = false;
    assertThat(echo("echo", "x")).isEqualTo("x");
    assertThat(link.clusterMember()).as("the node was there").isEqualTo(session);
  }

  @Test
  void requestsWithoutAnswersShowThatANodeHangs() {
    connected();
    String before = link.clusterMember();
    n1.silent = true;
    for (int i = 0; i < KeepAlive.UNANSWERED_MAX; i++) {
      assertThat(refusal(link.request("echo", Buffer.buffer(), 50)))
          .isEqualTo(Refusal.INDETERMINATE);
    }
    await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
    n1.silent = false;
    await().atMost(LONG).until(() -> link.state() == Link.State.CONNECTED);
    assertThat(link.clusterMember()).isNotEqualTo(before);
  }

  @Test
  void anIdleConnectionIsKeptAliveAndASilentOneGivenUp() {
    n1.welcome = n1.welcome(new Welcome.Limits(1 << 20, 100, 64 << 20, 200), n1);
    connected();
    String session = link.clusterMember();
    await().atMost(LONG).until(() -> n1.pings.get() > 5);
    assertThat(link.clusterMember()).isEqualTo(session);
    n1.sendPing();
    await().atMost(LONG).until(() -> !n1.others.isEmpty());
    assertThat(n1.others.get(0).correlation()).isEqualTo(77);
    n1.silent = true;
    await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
  }

  @Test
  void aLargeFrameOnASlowNetworkIsNoSilence() {
    long keepAliveMillis = 500;
    n1.welcome = n1.welcome(new Welcome.Limits(1 << 20, 100, 64 << 20, keepAliveMillis), n1);
    connected();
    String session = link.clusterMember();
    List<String> heard = new CopyOnWriteArrayList<>();
    await(link.listen("here", body -> heard.add(body.toString())).registered());
    n1.silent = true;
    String text = "a text that takes far more than three keep-alive times";
    n1.publishSlowly("here", text, keepAliveMillis * KeepAlive.SILENT_TIMES_MAX / 20);
    await().atMost(LONG).until(() -> heard.contains(text));
    assertThat(link.clusterMember()).isEqualTo(session);
  }

  @Test
  void keepsTheLimitsOfTheNode() {
    n1.welcome = n1.welcome(new Welcome.Limits(1_000, 3, 1_500, 5_000), n1);
    n1.holding = true;
    connected();
    assertThat(refusal(link.request("echo", Buffer.buffer(new byte[1_000]), 60_000)))
        .isEqualTo(Refusal.TOO_LARGE);
    List<Future<Buffer>> taken = new ArrayList<>();
    taken.add(link.request("echo", Buffer.buffer(new byte[900]), 60_000));
    Refused.with(
        Refusal.OVERLOADED,
        () -> await(link.request("echo", Buffer.buffer(new byte[900]), 60_000)),
        "3 requests of 1500 bytes");
    taken.add(link.request("echo", Buffer.buffer(), 60_000));
    taken.add(link.request("echo", Buffer.buffer(), 60_000));
    assertThat(refusal(link.request("echo", Buffer.buffer(), 60_000)))
        .isEqualTo(Refusal.OVERLOADED);
    await().atMost(LONG).until(() -> n1.requests.size() == taken.size());
    n1.holding = false;
    n1.cut();
    taken.forEach(each -> assertThat(refusal(each)).isEqualTo(Refusal.INDETERMINATE));
    await().atMost(LONG).until(() -> link.state() == Link.State.CONNECTED);
    times(10, i -> assertThat(echo("echo", "x")).as("answers give room back").isEqualTo("x"));
  }

  @Test
  void whatIsAskedAnywhereCountsForNothingAndOneGoodAnswerIsEnough() {
    cluster(n1, n2);
    n1.welcome = n1.welcome(new Welcome.Limits(1 << 20, 1, 1_500, 1_000), n1, n2);
    n2.start();
    connected();
    await().atMost(LONG).until(() -> n2.connections() == 1);
    n1.holding = true;
    link.request("evenkeel.node.n1.data", Buffer.buffer("x"), 60_000);
    await().atMost(LONG).until(() -> !n1.requests.isEmpty());
    assertThat(refusal(link.request("evenkeel.node.n1.data", Buffer.buffer("x"), 60_000)))
        .isEqualTo(Refusal.OVERLOADED);
    Buffer good = Frames.answer(new byte[] {7});
    assertThat(await(link.requestAnywhere("echo", good, 60_000))).isEqualTo(good);
    assertThat(link.silenceMillisMax()).isLessThanOrEqualTo(3_000);
    n1.holding = false;
    Buffer refused = Frames.refusal(Refusal.FORBIDDEN, "not this one");
    assertThat(refusal(link.requestAnywhere("echo", refused, 60_000))).isEqualTo(Refusal.FORBIDDEN);
    await(link.close());
    assertThat(refusal(link.requestAnywhere("echo", good, 60_000))).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(link.silenceMillisMax()).isZero();
  }

  @Test
  void saysGoodbyeWhenItIsClosed() {
    cluster(n1, n2);
    n2.start();
    connected();
    await().atMost(LONG).until(() -> n2.connections() == 1);
    List<Link.State> states = new CopyOnWriteArrayList<>();
    link.onState(states::add);
    await(link.close());
    await().atMost(LONG).until(() -> n1.goodbyes.size() == 1 && n2.goodbyes.size() == 1);
    await().atMost(LONG).until(() -> n1.connections() == 0 && n2.connections() == 0);
    assertThat(states).containsExactly(Link.State.CLOSED);
    assertThat(link.state()).isEqualTo(Link.State.CLOSED);
    assertThat(link.clusterMember()).isNull();
    await(link.close());
  }

  @Test
  void closesWhileItIsLost() {
    connected();
    n1.stop();
    await().atMost(LONG).until(() -> link.state() == Link.State.LOST);
    await(link.close());
    assertThat(link.state()).isEqualTo(Link.State.CLOSED);
    n1.start();
    assertThat(n1.hellos).hasSize(1);
  }

  /** What each of these nodes tells of the cluster. */
  /** As a verticle does that forgets its client. */
  @Test
  void endsWithTheVertxOfTheApplication() {
    n1.start();
    Vertx own = Vertx.vertx();
    EvenkeelClient client = await(Evenkeel.connect(own, options(n1)));
    await(own.close());
    assertThat(client.state()).isEqualTo(ConnectionState.CLOSED);
    await().atMost(LONG).until(() -> n1.goodbyes.equals(List.of("the client is closed")));
    await(client.close());
  }

  /** The client waits for its Vert.x, and that for the client: neither for ever. */
  @Test
  void itsVertxMayBeClosedAtTheSameTime() {
    n1.start();
    Link closed = connect(n1);
    Future<Void> client = closed.close();
    Future<Void> vertx = closed.vertx().close();
    await(client);
    await(vertx);
    Link other = connect(n1);
    await(other.vertx().close());
    assertThat(other.state()).isEqualTo(Link.State.CLOSED);
    await(other.close());
  }

  private static void cluster(FakeNode... nodes) {
    each(nodes, each -> each.welcome = each.welcome(FakeNode.LIMITS, nodes));
  }

  private static Link connect(FakeNode... seeds) {
    return await(Evenkeel.link(options(seeds)));
  }

  private static ClientOptions options(FakeNode... seeds) {
    return new ClientOptions()
        .setSeeds(Stream.of(seeds).map(each -> FakeNode.HOST + ":" + each.port).toList());
  }

  private String echo(String address, String text) {
    try {
      return await(link.request(address, Buffer.buffer(text), 30_000)).toString();
    } catch (RefusedException refused) {
      return refused.toString();
    }
  }

  private static Refusal refusal(Future<?> failing) {
    try {
      throw new AssertionError("no failure but " + await(failing));
    } catch (RefusedException refused) {
      return refused.refusal();
    }
  }

  private static Refusal refusalIn(Buffer answer) {
    try {
      throw new AssertionError("no refusal but " + Frames.answerBody(answer));
    } catch (RefusedException refused) {
      return refused.refusal();
    }
  }
}
