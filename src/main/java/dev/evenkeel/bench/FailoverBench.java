package dev.evenkeel.bench;

import dev.evenkeel.api.DescribeTopic.ShardDetail;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench failover}. */
@Command(
    name = "failover",
    description = {
      "Measures how long shards get no acknowledgements after the node that leads them is killed.",
      "It sends to every shard of three nodes at a steady rate. In each round it kills one leader"
          + " with SIGKILL, and starts it again when all shards are served. At the end it checks"
          + " that no acknowledged message is lost."
    },
    footer = {
      "  evenkeel bench failover",
      "  evenkeel bench failover --rounds 10 --shards 24 --format json",
      "",
      "'led' is the slowest of the shards that the killed node led; 'elsewhere' is the slowest"
          + " other."
    })
final class FailoverBench extends Benchmark {
  /** The payload begins with the shard of the message. */
  static final int SHARD_BYTES = Integer.BYTES;

  /** Shards have recovered when none had a gap of half this time for this time. */
  private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long to watch after all shards are served again, because a gap may come late. */
  private static final long LOOK_ON_MILLIS = 2_000;

  private static final long RECOVERY_SECONDS_MAX = 120;
  private static final long LOOK_EVERY_MILLIS = 20;

  private final Supplier<Integer> rounds =
      options.flags.integer("--rounds", "5", 1, 1_000, "Kills");

  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "1200", 1_000_000, "Messages a second, over all shards");

  private EvenkeelTarget target;
  private String topic;
  private AckGaps gaps;

  FailoverBench() {
    super(true);
  }

  @Override
  void check() {
    options.needBytes(SHARD_BYTES, "a message names its shard");
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    target = evenkeel(opened);
    topic = newTopic(target);
    gaps = new AckGaps(options.shards.get(), System.nanoTime());
    Payloads payloads = new Payloads(options.sizeBytes(), 0, 1);
    Target.Sender sender =
        target.sender(topic, (message, count) -> ByteBuffer.wrap(message.payload()).getInt());
    SteadySender sending =
        new SteadySender(
            sender,
            Long.MAX_VALUE,
            rate.get(),
            (i, done) -> send(sender, (int) (i % options.shards.get()), payloads.payload(i), done));
    List<Kill> done = new ArrayList<>();
    for (int round = 0; round < rounds.get(); round++) {
      awaitCalm("before a kill");
      done.add(kill(round));
    }
    awaitCalm("after the last kill");
    sending.finish(RECOVERY_SECONDS_MAX);
    return report(done, sending);
  }

  private int report(List<Kill> done, SteadySender sending) {
    long stored = target.stored(topic);
    long acked = sending.sent() - sending.failed();
    JsonArray kills = new JsonArray();
    for (Kill kill : done) {
      kills.add(
          new JsonObject()
              .put("node", kill.node())
              .put("shardsLed", kill.shardsLed())
              .put("ledMillis", kill.ledMillis())
              .put("elsewhereMillis", kill.elsewhereMillis()));
    }
    JsonObject led = sum(done, Kill::ledMillis);
    JsonObject elsewhere = sum(done, Kill::elsewhereMillis);
    Table table =
        Table.of(
            "KILLED node, SHARDS LED shardsLed, LED MS ledMillis, ELSEWHERE MS elsewhereMillis",
            kills);
    for (String figure : List.of("median", "max")) {
      String field = figure + "Millis";
      table.row(figure, null, led.getDouble(field), elsewhere.getDouble(field));
    }
    options.print(
        table.text(),
        result(target)
            .put("rate", rate.get())
            .put("kills", kills)
            .put("led", led)
            .put("elsewhere", elsewhere)
            .put("sent", sending.sent())
            .put("acked", acked)
            .put("failed", sending.failed())
            .put("stored", stored < 0 ? null : stored));
    if (stored >= 0 && stored < acked) {
      complain((acked - stored) + " acknowledged messages are not in the topic");
      return ExitStatus.FAILED;
    }
    return status(sending.sent(), sending.failed(), sending.firstFailure());
  }

  private static JsonObject sum(List<Kill> kills, Function<Kill, Double> figure) {
    List<Double> millis = kills.stream().map(figure).filter(Objects::nonNull).toList();
    return new JsonObject()
        .put("medianMillis", millis.isEmpty() ? null : Stats.median(millis))
        .put("maxMillis", millis.isEmpty() ? null : Stats.max(millis));
  }

  /**
   * The result of one kill.
   *
   * @param ledMillis the longest gap of the shards that the killed node led
   * @param elsewhereMillis the longest gap of the other shards; null if there are none
   */
  private record Kill(String node, int shardsLed, double ledMillis, Double elsewhereMillis) {}

  private Kill kill(int round) throws InterruptedException {
    Map<String, List<Integer>> led = ledShards();
    List<String> leaders = List.copyOf(led.keySet());
    String victim = leaders.get(round % leaders.size());
    List<Integer> others = new ArrayList<>();
    led.forEach(
        (node, each) -> {
          if (!node.equals(victim)) {
            others.addAll(each);
          }
        });
    OwnNodes.OwnNode node = target.nodes().node(victim);
    gaps.begin(System.nanoTime());
    node.kill();
    awaitServed();
    TimeUnit.MILLISECONDS.sleep(LOOK_ON_MILLIS);
    long now = System.nanoTime();
    Kill kill =
        new Kill(
            victim,
            led.get(victim).size(),
            Stats.rounded(gaps.worstNanos(led.get(victim), now) / 1e6),
            others.isEmpty() ? null : Stats.rounded(gaps.worstNanos(others, now) / 1e6));
    node.begin();
    node.awaitReady();
    return kill;
  }

  /** The shards of each node that leads some, by node. */
  private Map<String, List<Integer>> ledShards() throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS_MAX);
    while (true) {
      Map<String, List<Integer>> led = new TreeMap<>();
      int known = 0;
      for (ShardDetail shard : target.topic(topic).shardList()) {
        if (shard.leader() != null) {
          known++;
          led.computeIfAbsent(shard.leader(), node -> new ArrayList<>()).add(shard.shard());
        }
      }
      if (known == options.shards.get()) {
        return led;
      }
      lookAgain(until, "a shard has no leader");
    }
  }

  /** Waits until every shard is served again after a kill. */
  private void awaitServed() throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS_MAX);
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < CALM_NANOS
        || gaps.waitingNanos(System.nanoTime()) >= CALM_NANOS / 2) {
      lookAgain(until, "a shard is not served since a kill");
    }
  }

  private void awaitCalm(String when) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS_MAX);
    long calmSince = System.nanoTime();
    while (System.nanoTime() - calmSince < CALM_NANOS) {
      if (gaps.waitingNanos(System.nanoTime()) >= CALM_NANOS / 2) {
        calmSince = System.nanoTime();
      }
      lookAgain(until, "not every shard is served " + when);
    }
  }

  private static void lookAgain(long untilNanos, String what) throws InterruptedException {
    if (System.nanoTime() > untilNanos) {
      throw CommandFailure.failed(what + " within " + RECOVERY_SECONDS_MAX + " s");
    }
    TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
  }

  private void send(Target.Sender sender, int shard, byte[] content, Target.Done done) {
    byte[] payload = content.clone();
    ByteBuffer.wrap(payload).putInt(shard);
    sender.send(
        null,
        payload,
        failure -> {
          if (failure == null) {
            gaps.acked(shard, System.nanoTime());
          }
          done.done(failure);
        });
  }

  /** The longest time of each shard without acknowledgements. Thread-safe. */
  static final class AckGaps {
    private final long[] lastNanos;
    private final long[] worstNanos;

    AckGaps(int shards, long nowNanos) {
      lastNanos = new long[shards];
      worstNanos = new long[shards];
      begin(nowNanos);
    }

    /** Forgets all gaps before now. */
    synchronized void begin(long nowNanos) {
      Arrays.fill(lastNanos, nowNanos);
      Arrays.fill(worstNanos, 0);
    }

    synchronized void acked(int shard, long nowNanos) {
      worstNanos[shard] = Math.max(worstNanos[shard], nowNanos - lastNanos[shard]);
      lastNanos[shard] = nowNanos;
    }

    /**
     * The longest gap of any of {@code shards}, one that lasts still included; 0 without shards.
     */
    synchronized long worstNanos(Collection<Integer> shards, long nowNanos) {
      return shards.stream()
          .mapToLong(shard -> Math.max(worstNanos[shard], nowNanos - lastNanos[shard]))
          .max()
          .orElse(0);
    }

    /** How long the slowest shard has been waiting now. */
    synchronized long waitingNanos(long nowNanos) {
      return nowNanos - Arrays.stream(lastNanos).min().orElse(nowNanos);
    }
  }
}
