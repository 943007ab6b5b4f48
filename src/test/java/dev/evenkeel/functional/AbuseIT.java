package dev.evenkeel.functional;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.Refused;
import dev.evenkeel.TestUsers;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Mutants;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Strangers and broken programs at the ports of a node without settings get refusals and nothing
 * else. The node serves an honest client meanwhile, needs little memory, and loses nothing.
 */
@Timeout(1_800)
class AbuseIT {
  private static final List<String> SMALL =
      List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  /** Of live objects, with what clients and logs hold. */
  private static final long LIVE_BYTES_MAX = 128 << 20;

  private static final String HONEST = "honest";
  private static final String ABUSED = NodeLog.ABUSED;
  private static final int SHARDS = 2;

  /** In place of a status: the connection was closed before the answer could be read. */
  private static final int RESET = 0;

  private static final int MEBIBYTE = 1 << 20;

  @TempDir static Path directory;
  private static Node node;
  private static HonestClient honest;

  @BeforeAll
  static void start() {
    List<String> strict = new ArrayList<>(SMALL);
    strict.add("-XX:+ExitOnOutOfMemoryError");
    node =
        new Node(directory.resolve("node"))
            .inJvm(strict)
            .with("--client-bytes-in-flight-max", "16MiB", "--http-bytes-in-flight-max", "16MiB")
            .start();
    node.createTopic(HONEST, SHARDS);
    node.createTopic(ABUSED, SHARDS);
    honest = new HonestClient(options(node), HONEST, HONEST);
  }

  private static ClientOptions options(Node of) {
    return TestUsers.options().setSeeds(List.of(of.cluster()));
  }

  @AfterEach
  void itServesOn() throws Exception {
    assertThat(node.get("/health/ready").statusCode()).isEqualTo(200);
    honest.awaitMore();
    Footprint footprint = Footprint.of(node.pid());
    System.out.println(footprint + ", " + honest);
    assertThat(footprint.liveBytes()).isLessThan(LIVE_BYTES_MAX);
    NodeLog.assertNoError(List.of(node));
  }

  /** What it has written is still there after a restart. */
  @AfterAll
  static void stop() throws Exception {
    try (Node last = node) {
      Set<String> acknowledged = honest.finish();
      assertThat(last.stop().status()).isZero();
      last.start();
      TopicMessages.read(last, HONEST, SHARDS)
          .forEach(message -> acknowledged.remove(message.getString("payload")));
      assertThat(acknowledged).as("acknowledged, and lost").isEmpty();
      assertThat(last.stop().status()).isZero();
      NodeLog.assertNoError(List.of(last));
    }
  }

  private static int idOf(String topic) throws IOException {
    try (BadClient client = welcomed()) {
      return client.idOf(topic);
    }
  }

  private static BadClient welcomed() throws IOException {
    Hello hello =
        new Hello(
            List.of(1),
            "s-" + "0123456789abcdef".repeat(2),
            "evenkeel",
            "bad",
            TestUsers.token(),
            0);
    return BadClient.welcomed(Door.plain(node.port), hello);
  }

  @Test
  void mutantsCostRefusals() throws Exception {
    SessionRequests requests = new SessionRequests(ABUSED, idOf(ABUSED), "bad", List.of("n1"));
    List<SessionAttack> attacks = new ArrayList<>();
    Attacks all = new Attacks();
    for (int i = 0; i < 2; i++) {
      var attack =
          new SessionAttack(
              List.of(Door.plain(node.port)), requests, TestUsers.token(), all.random());
      attacks.add(attack);
      all.add(() -> attack.send(Mutants.COUNT / 2));
    }
    PortAttack http =
        new PortAttack(
            Door.plain(node.httpPort),
            PortBeginnings.http(ABUSED, "bad", TestUsers.token()),
            all.random());
    all.add(() -> http.send(Mutants.COUNT / 20));
    all.run();
    System.out.println(attacks);
    for (SessionAttack attack : attacks) {
      assertThat(attack.received(FrameKind.REFUSAL)).isGreaterThan(Mutants.COUNT / 20);
      assertThat(attack.received(FrameKind.ANSWER)).isGreaterThan(Mutants.COUNT / 20);
      assertThat(attack.received(FrameKind.GOODBYE)).isPositive();
    }
  }

  /**
   * Without {@code peer-tls}, whoever reaches the ports of nodes may do everything: what comes
   * there can make the engines fail to get memory, but it does not end them.
   */
  @Test
  void theEnginesSurviveMutants() throws Exception {
    try (Node plain = new Node(directory.resolve("plain")).inJvm(SMALL).start()) {
      long beganNanos = System.nanoTime();
      plain.createTopic(HONEST, SHARDS);
      HonestClient client = new HonestClient(options(plain), HONEST, HONEST);
      Attacks all = new Attacks();
      List<List<byte[]>> beginnings =
          List.of(PortBeginnings.bus(), PortBeginnings.raft(), PortBeginnings.hazelcast());
      for (int i = 0; i < beginnings.size(); i++) {
        PortAttack attack =
            new PortAttack(Door.plain(plain.port + 1 + i), beginnings.get(i), all.random());
        all.add(() -> attack.send(100 + Mutants.COUNT / 400));
      }
      all.run();
      List<Socket> open = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        open.add(sent(plain.port + 1, PortBeginnings.BUS_GIBIBYTES));
        open.add(sent(plain.port + 3, PortBeginnings.HAZELCAST_GIBIBYTES));
      }
      Footprint footprint = Footprint.of(plain.pid());
      System.out.println(footprint + ", " + client);
      assertThat(footprint.liveBytes()).isLessThan(LIVE_BYTES_MAX);
      each(open, each -> each.close());
      assertThat(plain.get("/health/ready").statusCode()).isEqualTo(200);
      client.finish();
      long minutes = TimeUnit.NANOSECONDS.toMinutes(System.nanoTime() - beganNanos);
      assertThat(NodeLog.lines(plain, line -> line.contains("over the event bus cannot be read")))
          .isBetween(1L, 1 + minutes);
      assertThat(plain.stop().err()).doesNotContain("internal error", "Transport failed");
    }
  }

  private static Socket sent(int port, byte[] bytes) throws IOException {
    Socket socket = Door.plain(port).open();
    socket.getOutputStream().write(bytes);
    return socket;
  }

  @Test
  void aPoisonBatchIsRefusedAndConsumersGoOn() throws Exception {
    node.createTopic("poisoned", 1);
    int id = idOf("poisoned");
    HonestClient client = new HonestClient(options(node), "poisoned", "reader");
    try (BadClient bad = welcomed()) {
      for (Batch poison : poison()) {
        Bytes append = new Bytes();
        AppendBody.write(append, new Shard(id, 0), poison);
        byte[] request = Frames.request(Op.APPEND, append).getBytes();
        Refused.with(
            Refusal.INVALID, () -> Frames.answerBody(bad.ask(Addresses.data("n1"), request)));
      }
    }
    client.awaitMore();
    TopicMessages.assertCount(node, "poisoned", client.finish().size());
  }

  /** Their checksums are right. What is inside is not: messages, and what is compressed. */
  private static List<Batch> poison() {
    List<Batch> all = new ArrayList<>();
    for (int compression = 0; compression <= 2; compression++) {
      BatchBuilder builder = new BatchBuilder(64);
      builder.add(new Message(new byte[] {1}, Map.of("h", new byte[] {2}), 5, new byte[20]));
      Batch batch = builder.build(0, 0, 0);
      batch.bytes().put(3, (byte) compression);
      batch.bytes().put(Batch.HEADER_BYTES, (byte) 0x7f);
      all.add(batch.stamped(0, 0, 0));
    }
    return all;
  }

  @Test
  void framesThatAreTooLongOrIncompleteHoldNoMemory() throws Exception {
    Door door = Door.plain(node.port);
    for (int length : new int[] {Integer.MAX_VALUE, -1, 6 + (4 << 20) + 1}) {
      try (BadClient bad = welcomed()) {
        bad.send(ByteBuffer.allocate(10).putInt(length).put((byte) 1).put((byte) 3).array());
        bad.end();
        assertThat(bad.received()).containsKey(FrameKind.GOODBYE);
      }
    }
    // Each lacks its last byte, and together they would fill the heap twice.
    byte[] head = SessionFrame.requestHead(Addresses.data("n1"), 1_000).getBytes();
    byte[] frame = BadClient.frame(FrameKind.REQUEST, 1, head, new byte[3 * MEBIBYTE]);
    List<BadClient> open = new ArrayList<>();
    try {
      for (int i = 0; i < 200; i++) {
        Hello hello =
            new Hello(List.of(1), "s-%032x".formatted(i), "evenkeel", "bad", TestUsers.token(), 0);
        BadClient bad = BadClient.welcomed(door, hello);
        open.add(bad);
        bad.send(Arrays.copyOf(frame, frame.length - 1));
      }
      Awaitility.await("most are closed").until(() -> limited("arriving_bytes") > 100);
    } finally {
      each(open, bad -> bad.close());
    }
  }

  private static double limited(String limit) {
    Double value =
        PrometheusText.parse(node.get("/metrics").body())
            .value("evenkeel_session_limited_total", "limit", limit);
    return value == null ? 0 : value;
  }

  @Test
  void bodiesThatAreSlowOrIncompleteHoldNoMemory() throws Exception {
    String head =
        "POST /api/topics/abused/messages HTTP/1.1\r\nHost: localhost\r\n"
            + TestUsers.header()
            + "Content-Type: application/octet-stream\r\nContent-Length: %s\r\n\r\n"
                .formatted(8 * MEBIBYTE);
    byte[] piece = new byte[64 << 10];
    List<Socket> open = new ArrayList<>();
    try {
      times(200, i -> open.add(sent(node.httpPort, head.getBytes(StandardCharsets.US_ASCII))));
      // Half of them stop early, and stay open. All that are sent would fill the heap three times.
      for (int round = 0; round < 8 * MEBIBYTE / piece.length; round++) {
        for (int i = 0; i < open.size(); i += round < 2 ? 1 : 2) {
          write(open.get(i), piece);
        }
      }
      Set<Integer> statuses = new TreeSet<>();
      for (int i = 0; i < open.size(); i += 2) {
        statuses.add(status(open.get(i)));
      }
      assertThat(statuses).isSubsetOf(RESET, 413, 429, 503).contains(503);
    } finally {
      each(open, each -> each.close());
    }
    Awaitility.await("there is room again")
        .until(
            () ->
                node.post("/api/topics/abused/messages", "{\"payload\":\"p\"}").statusCode()
                    == 200);
  }

  private static void write(Socket socket, byte[] bytes) throws IOException {
    try {
      socket.getOutputStream().write(bytes);
    } catch (SocketException e) {
      // The node has refused it, and closed it.
      assertThat(e).hasMessageMatching(".*(reset|Broken pipe|closed).*");
    }
  }

  /** Of the answer, or RESET. */
  private static int status(Socket socket) throws IOException {
    try {
      byte[] answer = socket.getInputStream().readNBytes("HTTP/1.1 503".length());
      return answer.length < 12
          ? RESET
          : Integer.parseInt(new String(answer, 9, 3, StandardCharsets.US_ASCII));
    } catch (SocketException e) {
      return RESET;
    }
  }

  @Test
  void idleAndSlowConnectionsHoldUpNobody() throws Exception {
    // From now on it has a connection, as the honest client has.
    assertThat(node.get("/health/ready").statusCode()).isEqualTo(200);
    try (SlowConnections slow = new SlowConnections(node)) {
      int until = honest.acknowledged() + slow.size();
      while (honest.acknowledged() < until) {
        slow.turn();
        assertThat(node.get("/health/ready").statusCode()).isEqualTo(200);
      }
      System.out.println(slow + "; " + honest);
    }
  }
}
