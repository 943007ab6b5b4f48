package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.functional.SessionRequests.Sample;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Mutants;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Sends mutated frames to client ports: most of them as a client that was welcomed and whose
 * requests are malformed inside, the others with faults in the frames themselves, before and after
 * HELLO. It opens another connection whenever the node closes one.
 */
public final class SessionAttack {
  private static final String TRACEPARENT =
      "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";

  /** Frames that are sent without waiting for the node. Their answers fit into the sockets. */
  private static final int AT_ONCE = 40;

  /** Each of them gets one mutant before HELLO, or one after it. */
  private static final int CONNECTIONS = 5;

  private final List<Door> doors;
  private final SessionRequests requests;
  private final String token;
  private final Random random;
  private final Map<FrameKind, Integer> received = new EnumMap<>(FrameKind.class);
  private int connections;

  private BadClient client;
  private String session;
  private List<Sample> samples;

  /**
   * @param token of the user that the sessions belong to; null: the cluster has no users
   */
  public SessionAttack(List<Door> doors, SessionRequests requests, String token, Random random) {
    this.doors = doors;
    this.requests = requests;
    this.token = token;
    this.random = random;
  }

  /**
   * Returns when the nodes have read all frames, and what they closed is closed.
   *
   * @param frames how many mutants it sends, at least
   */
  public void send(int frames) throws IOException {
    int sent = 0;
    try {
      while (sent < frames) {
        switch (random.nextInt(8)) {
          case 0, 1 -> {
            for (int i = 0; i < CONNECTIONS; i++) {
              beforeHello();
              brokenFrame();
            }
            sent += 2 * CONNECTIONS;
          }
          default -> {
            brokenRequests();
            sent += AT_ONCE;
          }
        }
      }
    } finally {
      forget();
    }
  }

  /** How many frames of each kind came back, and over how many connections. */
  @Override
  public String toString() {
    return received + " over " + connections + " connections";
  }

  public int received(FrameKind kind) {
    return received.getOrDefault(kind, 0);
  }

  private Door door() {
    connections++;
    return doors.get(random.nextInt(doors.size()));
  }

  private Hello hello(String of) {
    return new Hello(List.of(1), of, "evenkeel", "bad", token, 0);
  }

  private String newSession() {
    return "s-%016x%016x".formatted(random.nextLong(), random.nextLong());
  }

  private void beforeHello() throws IOException {
    try (BadClient stranger = BadClient.open(door())) {
      String of = newSession();
      byte[] hello = BadClient.frame(FrameKind.HELLO, 0, hello(of).toJson().toBuffer().getBytes());
      byte[] first = random.nextInt(3) > 0 ? hello : anyFrame(requests.of(of));
      stranger.send(Mutants.of(first, random));
      stranger.send(anyFrame(requests.of(of)));
      stranger.end();
      count(stranger);
    }
  }

  private void brokenFrame() throws IOException {
    String of = newSession();
    try (BadClient broken = BadClient.welcomed(door(), hello(of))) {
      List<Sample> own = requests.of(of);
      broken.send(anyFrame(own));
      broken.send(Mutants.of(anyFrame(own), random));
      broken.send(anyFrame(own));
      broken.end();
      count(broken);
    }
  }

  private void brokenRequests() throws IOException {
    if (client == null || client.isClosed()) {
      forget();
      session = newSession();
      samples = requests.of(session);
      client = BadClient.welcomed(door(), hello(session));
      for (String address : List.of(Addresses.member(session), Addresses.level(session))) {
        client.send(
            BadClient.frame(FrameKind.LISTEN, 1, SessionFrame.addressed(address).getBytes()));
      }
    }
    for (int push : client.takeAsked()) {
      client.send(BadClient.frame(FrameKind.PUSH_ANSWER, push, Mutants.of(pushAnswer(), random)));
    }
    times(AT_ONCE, i -> client.send(random.nextInt(30) == 0 ? brokenHead() : brokenBody()));
    client.settle();
  }

  private void forget() throws IOException {
    if (client != null) {
      client.end();
      count(client);
      client.close();
      client = null;
    }
  }

  private void count(BadClient ended) {
    ended.received().forEach((kind, frames) -> received.merge(kind, frames, Integer::sum));
  }

  private Sample anySample(List<Sample> of) {
    return of.get(random.nextInt(of.size()));
  }

  /** A valid frame of any kind that a client or a node sends. */
  private byte[] anyFrame(List<Sample> of) {
    FrameKind kind = FrameKind.values()[random.nextInt(FrameKind.values().length)];
    Sample sample = anySample(of);
    byte[] address = SessionFrame.addressed(sample.address()).getBytes();
    return switch (kind) {
      case HELLO -> BadClient.frame(kind, 0, hello(newSession()).toJson().toBuffer().getBytes());
      case REQUEST -> request(sample.address(), sample.body());
      case PUSH -> BadClient.frame(kind, 0, address, sample.body());
      case LISTEN, UNLISTEN -> BadClient.frame(kind, 3, address);
      case PUSH_ANSWER -> BadClient.frame(kind, 3, pushAnswer());
      case TRACE -> BadClient.frame(kind, 3, TRACEPARENT.getBytes(US_ASCII));
      case WELCOME, ANSWER, REFUSAL, PING, PONG, GOODBYE ->
          BadClient.frame(kind, 3, kind == FrameKind.PING ? new byte[0] : sample.body());
    };
  }

  private byte[] request(String address, byte[] body) {
    int number = random.nextInt(1 << 30);
    byte[] head = SessionFrame.requestHead(address, 1 + random.nextInt(3_000)).getBytes();
    return BadClient.frame(FrameKind.REQUEST, number, head, body);
  }

  /** A frame that is one, with faults in what the node answers or passes on. */
  private byte[] brokenBody() {
    Sample sample = anySample(samples);
    byte[] body = sample.body();
    if (sample.json() != null && random.nextInt(4) > 0) {
      body = OddJson.of(sample.json(), random);
    } else if (body.length > 0) {
      body = Mutants.of(body, random);
    }
    return request(sample.address(), body);
  }

  /** A frame that is one, with faults in its address or its timeout, and with any body. */
  private byte[] brokenHead() {
    Sample sample = anySample(samples);
    FrameKind[] kinds = {FrameKind.REQUEST, FrameKind.LISTEN, FrameKind.UNLISTEN};
    FrameKind kind = kinds[random.nextInt(kinds.length)];
    byte[] head = SessionFrame.requestHead(sample.address(), 100).getBytes();
    return BadClient.frame(kind, 5, Mutants.of(head, random), sample.body());
  }

  /** What a member answers to a level dispatcher that begins. */
  private static byte[] pushAnswer() {
    List<MessageId> held = List.of(new MessageId(new Shard(1, 0), 1, 1));
    Bytes state = new SessionState(new byte[] {1}, 1, held, held, 10).encode();
    return Frames.answer(state.view()).getBytes();
  }
}
