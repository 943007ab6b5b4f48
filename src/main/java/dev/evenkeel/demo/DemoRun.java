package dev.evenkeel.demo;

import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.HttpApi;
import dev.evenkeel.cli.NodeConfig;
import dev.evenkeel.cli.ServeRun;
import dev.evenkeel.cli.Teardown;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.demo.DemoMembers.DemoProcess;
import dev.evenkeel.demo.DemoScript.Event;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Vertx;
import java.io.PrintStream;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** One run of the demo on a running node: a thread of its own plays the script. */
final class DemoRun {
  static final String TOPIC = "orders";
  static final String GROUP = "demo";
  static final int SHARDS = 12;

  /** Short, so that a demo that runs overnight does not fill the disk. */
  static final long RETENTION_MILLIS = 600_000;

  private static final int MESSAGES_PER_SECOND = 200;
  private static final long SETTLE_MILLIS_MAX = 60_000;
  private static final long FLUSH_MILLIS_MAX = 1_000;
  private static final long POLL_MILLIS = 50;
  private static final long LOOK_MILLIS_MAX = 500;
  private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");

  private final NodeConfig config;
  private final long everyMillis;
  private final boolean dataIsTemporary;
  private final PrintStream out;
  private final DemoMembers members;
  private final RandomGenerator random = new SplittableRandom();
  private final DemoScript script = new DemoScript(random);
  private final CountDownLatch stopping = new CountDownLatch(1);
  private DemoFacts facts;

  /** Null until the first orders are sent. */
  private volatile Orders orders;

  DemoRun(NodeConfig config, long everyMillis, boolean dataIsTemporary, PrintStream out) {
    this.config = config;
    this.everyMillis = everyMillis;
    this.dataIsTemporary = dataIsTemporary;
    this.out = out;
    members = new DemoMembers(new HostPort(config.host(), config.port()).toString());
  }

  /** See {@link ServeRun.Guest}. */
  void ready(Vertx vertx, Integer httpPort, Teardown teardown, CompletableFuture<Void> end) {
    String url = "http://" + new HostPort(config.httpHost(), httpPort);
    facts = new DemoFacts(new HttpApi(url));
    teardown.addBlocking("demo", this::close);
    Daemon.start(
        "evenkeel-demo",
        () -> {
          try {
            play(LocalObjects.get(vertx, EvenkeelClient.class), url);
          } catch (Throwable e) {
            // Calls fail while the demo stops; that is no failure of the demo.
            if (stopping.getCount() > 0) {
              end.completeExceptionally(e);
            }
          }
        });
  }

  private void close() {
    stopping.countDown();
    Orders sent = orders;
    if (sent != null) {
      CompletableFuture<Void> flushed = sent.close().toCompletionStage().toCompletableFuture();
      members.close();
      flushed
          .completeOnTimeout(null, FLUSH_MILLIS_MAX, TimeUnit.MILLISECONDS)
          .exceptionally(failure -> null)
          .join();
      print(
          LocalTime.now(),
          String.format(Locale.ROOT, "the demo ends; %,d orders were sent", sent.acknowledged()));
    } else {
      members.close();
    }
  }

  private void play(EvenkeelClient client, String url) throws InterruptedException {
    facts.ensureTopic();
    out.print(introduction(url));
    out.flush();
    orders = ClientConnection.await(Orders.start(client, TOPIC, MESSAGES_PER_SECOND, random));
    begin();
    while (pause()) {
      act(script.next(members.all().size()));
    }
  }

  private void begin() throws InterruptedException {
    LocalTime time = LocalTime.now();
    for (int i = 0; i < DemoScript.CONSUMERS_AT_START; i++) {
      members.start();
    }
    StringBuilder names = new StringBuilder();
    for (DemoProcess process : members.all()) {
      members.awaitJoined(process);
      names.append(names.isEmpty() ? "" : ", ").append(process.name());
      names.append(" (pid ").append(process.process().pid()).append(")");
    }
    for (DemoProcess process : members.all()) {
      awaitSettled(process.name(), true, System.nanoTime());
    }
    facts.newMoves();
    members.takeArrived();
    print(time, names + " share the " + SHARDS + " shards");
  }

  /** Waits for the next event, and reports processes that others end; false: the demo ends. */
  private boolean pause() throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(everyMillis);
    while (true) {
      long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
      if (left <= 0) {
        return stopping.getCount() > 0;
      }
      if (stopping.await(Math.min(left, LOOK_MILLIS_MAX), TimeUnit.MILLISECONDS)) {
        return false;
      }
      for (DemoProcess process : members.all()) {
        if (!process.process().isAlive()) {
          long since = System.nanoTime();
          LocalTime time = LocalTime.now();
          members.forget(process);
          report(time, null, process, awaitSettled(process.name(), false, since));
        }
      }
    }
  }

  private void act(Event event) throws InterruptedException {
    LocalTime time = LocalTime.now();
    long since = System.nanoTime();
    DemoProcess process;
    if (event == Event.JOIN) {
      process = members.start();
      members.awaitJoined(process);
    } else {
      List<DemoProcess> all = members.all();
      process = all.get(random.nextInt(all.size()));
      if (event == Event.LEAVE) {
        members.leave(process);
      } else {
        members.kill(process);
      }
    }
    report(time, event, process, awaitSettled(process.name(), event == Event.JOIN, since));
  }

  /**
   * Waits until the group is settled; gives the time since {@code sinceNanos}, null if it took too
   * long.
   */
  private Long awaitSettled(String member, boolean present, long sinceNanos)
      throws InterruptedException {
    long limit = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SETTLE_MILLIS_MAX);
    while (System.nanoTime() < limit) {
      if (facts.ownership().settled(member, present)) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
      }
      if (stopping.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        return null;
      }
    }
    return null;
  }

  private void report(LocalTime time, Event event, DemoProcess process, Long settledMillis) {
    if (stopping.getCount() == 0) {
      return;
    }
    List<DemoStory.Move> moves = facts.newMoves();
    Map<Integer, Long> arrived = members.takeArrived();
    long carried = 0;
    for (DemoStory.Move move : moves) {
      carried += arrived.getOrDefault(move.shard(), 0L);
    }
    print(
        time,
        DemoStory.line(
            new DemoStory.Outcome(
                event, process.name(), process.process().pid(), moves, carried, settledMillis)));
  }

  private void print(LocalTime time, String line) {
    out.println(CLOCK.format(time) + "  " + line);
    out.flush();
  }

  private String introduction(String url) {
    String more =
        config.port() == 5701 ? "" : " --cluster " + new HostPort(config.host(), config.port());
    String http = url.equals(HttpApi.DEFAULT_URL) ? "" : " --http " + url;
    return String.format(
        "Evenkeel demo: a node, the topic '%s' with %s shards, %s orders a second, and consumers\n"
            + "of the group '%s' that come and go. Each counts the orders of its shards; the counts"
            + " travel with them.\n\n"
            + "  look      %s/   every consumer and its shards, as they move\n"
            + "  ask       evenkeel group describe %s%s\n"
            + "  join in   evenkeel consume %s --group %s --member me%s\n"
            + "  kill one  kill -9 PID, with a pid of the lines below\n"
            + "  end       Ctrl-C%s\n\n",
        TOPIC,
        SHARDS,
        MESSAGES_PER_SECOND,
        GROUP,
        url,
        GROUP,
        http,
        TOPIC,
        GROUP,
        more,
        dataIsTemporary ? ", which removes the data" : "; the data stays in " + config.data());
  }
}
