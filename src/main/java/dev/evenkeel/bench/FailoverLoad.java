package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Sends to every shard at a steady rate while nodes that lead shards are killed, one at a time, and
 * started again. What counts is how long a shard is without acknowledgements.
 */
final class FailoverLoad {
  /** The payload begins with the shard that the message is for. */
  static final int SHARD_BYTES = Integer.BYTES;

  /** After this time without a gap as long all is well again. */
  private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long to look on after all shards are served again: what is bad may come late. */
  private static final long LOOK_ON_MILLIS = 2_000;

  private static final long RECOVERY_SECONDS_MAX = 120;
  private static final long LOOK_EVERY_MILLIS = 20;

  private final EvenkeelTarget target;
  private final String topic;
  private final int shards;
  private final Payloads payloads;
  private final double perSecond;
  private final AckGaps gaps;

  FailoverLoad(
      EvenkeelTarget target, String topic, int shards, Payloads payloads, double perSecond) {
    this.target = target;
    this.topic = topic;
    this.shards = shards;
    this.payloads = payloads;
    this.perSecond = perSecond;
    gaps = new AckGaps(shards, System.nanoTime());
  }

  /**
   * One kill.
   *
   * @param led how long the slowest of the shards that the killed node led was not served
   * @param elsewhere the same of the other shards; null if it led all
   */
  record Kill(String node, int shardsLed, double ledMillis, Double elsewhereMillis) {}

  /** What came of it. */
  record Outcome(List<Kill> kills, long sent, long failed, Throwable firstFailure) {
    long acked() {
      return sent - failed;
    }
  }

  Outcome run(int rounds) throws InterruptedException {
    Target.Sender sender =
        target.sender(topic, (message, count) -> ByteBuffer.wrap(message.payload()).getInt());
    SteadySender sending =
        new SteadySender(
            sender,
            Long.MAX_VALUE,
            perSecond,
            (i, done) -> send(sender, (int) (i % shards), i, done));
    List<Kill> kills = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      awaitCalm("before a kill");
      kills.add(kill(round));
    }
    awaitCalm("after the last kill");
    sending.finish(RECOVERY_SECONDS_MAX);
    return new Outcome(kills, sending.sent(), sending.failed(), sending.firstFailure());
  }

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
    OwnNode node = target.nodes().node(victim);
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

  /** Shards by the node that leads them, nodes in order of their names. */
  private Map<String, List<Integer>> ledShards() throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS_MAX);
    while (true) {
      Map<String, List<Integer>> led = new TreeMap<>();
      JsonArray list = target.topic(topic).getJsonArray("shardList");
      int known = 0;
      for (int i = 0; i < list.size(); i++) {
        JsonObject shard = list.getJsonObject(i);
        if (shard.getString("leader") != null) {
          known++;
          led.computeIfAbsent(shard.getString("leader"), node -> new ArrayList<>())
              .add(shard.getInteger("shard"));
        }
      }
      if (known == shards) {
        return led;
      }
      lookAgain(until, "a shard has no leader");
    }
  }

  /** Waits until every shard was acknowledged since the last kill, and a moment ago. */
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

  private void send(Target.Sender sender, int shard, long i, Target.Done done) {
    byte[] payload = payloads.payload(i).clone();
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
}
