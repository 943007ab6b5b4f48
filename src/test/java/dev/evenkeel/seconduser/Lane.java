package dev.evenkeel.seconduser;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One of the threads of an attack, with its connections. */
final class Lane implements Runnable {
  /** Of the test's node. */
  static final String NODE = "n1";

  private static final long PAUSE_MILLIS = 20;

  private final Target target;
  private final Attack attack;
  private final Outcome outcome;
  private final AtomicLong turns;
  private final double scale;
  private final long untilNanos;
  private final long beganNanos = System.nanoTime();
  private final String token;

  /** From 0. */
  final int number;

  final Random random;

  /** Steps that this lane has begun before this one. */
  int turn = -1;

  private final List<AutoCloseable> held = new ArrayList<>();
  private RawSession session;
  private RawHttp http;
  private EvenkeelClient client;

  /**
   * @param turns of all lanes of the attack
   * @param scale 1: as many connections and so on as the attack wants
   */
  Lane(
      Target target,
      Attack attack,
      int number,
      AtomicLong turns,
      double scale,
      long untilNanos,
      Outcome outcome)
      throws IOException {
    this.target = target;
    this.attack = attack;
    this.number = number;
    this.turns = turns;
    this.scale = scale;
    this.untilNanos = untilNanos;
    this.outcome = outcome;
    random = new Random(number);
    token = attack.user() == null ? null : token(attack.user());
  }

  private String token(String user) throws IOException {
    return Files.readString(Path.of(target.tokenFile(user))).strip();
  }

  @Override
  public void run() {
    while (!over()) {
      try {
        if (pace()) {
          turn++;
          attack.step().run(this);
        }
      } catch (IOException | RefusedException e) {
        outcome.failed(e);
        drop();
        pause(PAUSE_MILLIS);
      } catch (Exception | AssertionError e) {
        outcome.count(String.valueOf(e));
        drop();
        pause(10 * PAUSE_MILLIS);
      }
    }
  }

  /** Waits for the next turn. Returns false if there is none any more. */
  private boolean pace() {
    if (attack.rate() == 0) {
      return true;
    }
    long at = beganNanos + (long) (turns.getAndIncrement() * (1e9 / scale) / attack.rate());
    for (long left = at - System.nanoTime(); left > 0; left = at - System.nanoTime()) {
      if (over()) {
        return false;
      }
      pause(Math.min(100, 1 + TimeUnit.NANOSECONDS.toMillis(left)));
    }
    return !over();
  }

  boolean over() {
    return System.nanoTime() >= untilNanos;
  }

  void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  Target target() {
    return target;
  }

  Outcome outcome() {
    return outcome;
  }

  /** The user's token; null: it has none. */
  String token() {
    return token;
  }

  /** A name that no other lane and no other turn has, and that a member may use. */
  String name() {
    return "evil-" + attack.name() + "-" + number + "-" + turn;
  }

  /** The scaled number, at least 1. */
  int some(int number) {
    return Math.max(1, (int) (number * scale));
  }

  /**
   * Whether this lane has had so many turns, the scaled number. Then it also waits a little, and
   * keeps what it holds. One of ten turns after that goes on, in case the node has closed some.
   */
  boolean full(int number) {
    if (turn < some(number)) {
      return false;
    }
    keepAlive();
    pause(200);
    return turn % 10 > 0;
  }

  /** Keeps it open until the end. */
  <T extends AutoCloseable> T hold(T opened) {
    synchronized (held) {
      held.add(opened);
    }
    return opened;
  }

  /** The last session that is held, or another one if it is closed. */
  RawSession lastHeld() throws IOException {
    for (int i = held.size() - 1; i >= 0; i--) {
      if (held.get(i) instanceof RawSession raw && !raw.isClosed()) {
        return raw;
      }
    }
    return hold(newSession().read());
  }

  /** Sends another byte on each connection to HTTP that is held, each half a second. */
  void trickle() throws IOException {
    if (System.nanoTime() - pingedNanos < TimeUnit.MILLISECONDS.toNanos(500)) {
      return;
    }
    pingedNanos = System.nanoTime();
    for (AutoCloseable each : List.copyOf(held)) {
      try {
        ((RawHttp) each).sendRaw(new byte[] {'x'});
      } catch (IOException e) {
        held.remove(each);
        ((RawHttp) each).close();
        outcome.failed(e);
      }
    }
  }

  private long pingedNanos = System.nanoTime();

  /** Says something on each session that is held, once in a while. */
  void keepAlive() {
    if (System.nanoTime() - pingedNanos < TimeUnit.SECONDS.toNanos(3)) {
      return;
    }
    pingedNanos = System.nanoTime();
    for (AutoCloseable each : List.copyOf(held)) {
      if (each instanceof RawSession raw && !raw.isClosed()) {
        try {
          raw.send(dev.evenkeel.bus.frame.FrameKind.PING, 1);
        } catch (IOException e) {
          outcome.failed(e);
        }
      }
    }
  }

  /** The lane's own session, which reads its answers. */
  RawSession session() throws IOException {
    if (session == null || session.isClosed()) {
      session = newSession().read();
    }
    return session;
  }

  /** Another session, which reads nothing yet. */
  RawSession newSession() throws IOException {
    return RawSession.open(target, token, RawSession.newId(), outcome);
  }

  /** The lane's own connection to HTTP. */
  RawHttp http() throws IOException {
    if (http == null || http.hasEnded()) {
      http = newHttp();
    }
    return http;
  }

  RawHttp newHttp() throws IOException {
    return RawHttp.open(target, token);
  }

  /** The lane's own client. */
  EvenkeelClient client() {
    if (client == null) {
      client =
          await(
              Evenkeel.connect(
                  new ClientOptions()
                      .setSeeds(List.of("127.0.0.1:" + target.port()))
                      .setCa(target.ca())
                      .setTokenFile(target.tokenFile(attack.user()))));
    }
    return client;
  }

  /** Asks over HTTP, and counts the answer. */
  RawHttp.Answer ask(String method, String path, JsonObject body) throws IOException {
    RawHttp.Answer answer = http().ask(method, path, body == null ? null : body.encode());
    outcome.answered(answer);
    return answer;
  }

  /** Sends a request to the control address of the broker. */
  <Q, A> void control(Call<Q, A> call, Q question) throws IOException {
    session().request(Addresses.control(NODE), call.request(question).getBytes());
  }

  /** Sends a request to the data address of the broker. */
  void data(Op op, Bytes body) throws IOException {
    session().request(Addresses.data(NODE), Frames.request(op, body).getBytes());
  }

  private void drop() {
    for (AutoCloseable each : new AutoCloseable[] {session, http}) {
      try {
        if (each != null) {
          each.close();
        }
      } catch (Exception e) {
        outcome.count("not closed");
      }
    }
    session = null;
    http = null;
  }
}
