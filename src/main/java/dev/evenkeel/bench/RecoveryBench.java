package dev.evenkeel.bench;

import dev.evenkeel.api.GetReplacement;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.ReplaceNode;
import dev.evenkeel.api.ReplacementView;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.DataDirectory;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.HttpApi;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench recovery}. */
@Command(
    name = "recovery",
    description = {
      "Measures, with many messages kept, how long a node takes to return and what snapshots cost.",
      "It sends --bytes of payload. Then it kills each node with SIGKILL, one after another, and"
          + " starts it again. Then it sends at --rate for --duration, while each log group takes a"
          + " snapshot after every --entries. With --nodes 3 it also kills n3, removes its data,"
          + " and replaces it by an empty node."
    },
    footer = {
      "  evenkeel bench recovery --size 1KiB --data /var/tmp",
      "  evenkeel bench recovery --size 1KiB --nodes 3 --data /var/tmp",
      "  evenkeel bench recovery --bytes 1GiB --duration 20s --format json",
      "",
      "Each node needs room for all messages on its disk.",
      "  START SECONDS   the slowest start after a kill, until the node is ready",
      "  SNAPSHOTS       how many snapshots node n1 took while messages were sent at --rate",
      "  BYTES EACH      what a node wrote meanwhile, less what it writes without snapshots,",
      "                  divided by how often all log groups took one",
      "  P50 MS, MAX MS  time to the acknowledgement of a message; a snapshot holds up no more",
      "  COPY SECONDS    from the start of the empty node until it is ready",
      "  OF DISK         the same, divided by the time in which the disk writes one file as large"
    })
final class RecoveryBench extends Benchmark {
  private static final int CHUNK_BYTES = 1 << 20;
  private static final long RETURN_SECONDS_MAX = 60;
  private static final long COPY_MINUTES_MAX = 60;
  private static final long LOOK_EVERY_MILLIS = 50;
  private static final String WIPED = "n3";

  private final Supplier<Integer> producers = options.producers();

  private final Supplier<Long> bytes =
      options.flags.size("--bytes", "10GiB", "Payload to send before anything is measured");

  private final Supplier<Integer> entries =
      options.flags.integer(
          "--entries", "1000", 100, 1_000_000, "Log entries of a log group between snapshots");

  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "300", 100_000, "Messages a second during the snapshots");

  private final Supplier<Long> durationMillis =
      options.flags.someTime("--duration", "60s", "How long to send at that rate");

  private final Supplier<Long> warmupMillis = options.warmup("5s");

  @Override
  void check() {
    CommandFailure.refuseIf(
        options.cluster() != null, "--cluster: this kills nodes, so it works with its own only");
    options.needBytes(LatencyLoad.STAMP_BYTES, "a message carries its time");
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    String topic = newTopic(target);
    long messages = Math.max(1, bytes.get() / options.sizeBytes());
    send(senders(target, topic, producers.get()), payloads(), Amount.messages(messages));
    Long kept = target.keptBytes(topic);
    JsonObject result =
        result(target)
            .put("producers", producers.get())
            .put("messages", messages)
            .put("keptBytes", kept);
    Double without = load(target).bytes;
    result.put("startSeconds", startSeconds(target.nodes()));
    awaitClient(target, topic);
    snapshots(target, without, result);
    String columns =
        "START SECONDS startSeconds, SNAPSHOTS snapshots, BYTES EACH snapshotBytes,"
            + " P50 MS ackP50Millis, MAX MS ackMaxMillis";
    if (target.nodes().count() > 1) {
      copy(target.nodes(), kept == null ? bytes.get() : kept, result);
      columns += ", COPY SECONDS copySeconds, OF DISK copyOfDisk";
    }
    print(columns, result);
    return ExitStatus.DONE;
  }

  /** Kills and starts each node; from now on they take the snapshots that are measured. */
  private double startSeconds(OwnNodes nodes) {
    long slowest = 0;
    for (OwnNodes.OwnNode node : nodes.all()) {
      node.kill();
      long begin = System.nanoTime();
      node.begin("--snapshot-every-entries", entries.get().toString());
      node.awaitReady();
      slowest = Math.max(slowest, System.nanoTime() - begin);
    }
    return Stats.seconds(slowest);
  }

  /** Waits until the client has found a node that was killed. */
  private static void awaitClient(EvenkeelTarget target, String topic) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(RETURN_SECONDS_MAX);
    while (true) {
      CommandFailure unreachable = null;
      try {
        if (target.stored(topic) >= 0) {
          return;
        }
      } catch (CommandFailure e) {
        unreachable = e;
      }
      if (System.nanoTime() > until) {
        throw unreachable == null
            ? CommandFailure.failed("a shard has no leader after a start")
            : unreachable;
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
    }
  }

  private void snapshots(EvenkeelTarget target, Double without, JsonObject result)
      throws InterruptedException {
    OwnNodes.OwnNode node = target.nodes().all().get(0);
    Map<Path, Long> before = node.snapshots();
    Load load = load(target);
    Map<Path, Long> after = node.snapshots();
    long taken = 0;
    int groups = 0;
    for (Map.Entry<Path, Long> group : after.entrySet()) {
      long here = (group.getValue() - before.getOrDefault(group.getKey(), 0L)) / entries.get();
      taken += here;
      groups += here > 0 ? 1 : 0;
    }
    Percentiles acknowledged = load.outcome.acknowledged();
    result
        .put("snapshots", taken)
        .put(
            "snapshotBytes",
            taken == 0 || without == null || load.bytes == null
                ? null
                : Math.round(Math.max(0, load.bytes - without) * groups / taken))
        .put("ackP50Millis", acknowledged.millis(50))
        .put("ackMaxMillis", acknowledged.millis(100))
        .put("acknowledged", acknowledged.json());
  }

  /**
   * @param bytes what a node wrote meanwhile; null: not known
   */
  private record Load(LatencyLoad.Outcome outcome, Double bytes) {}

  /** Sends at the rate to a topic of its own. */
  private Load load(EvenkeelTarget target) throws InterruptedException {
    String topic = newTopic(target);
    LatencyLoad load = new LatencyLoad(payloads(), rate.get());
    List<Target.Receiver> receivers = receivers(target, topic, topic + "-group", 1, load.arrival());
    List<Target.Sender> senders = senders(target, topic, 1);
    DiskWrites begin = target.diskWrites(topic, null);
    LatencyLoad.Outcome outcome = load.run(senders, warmupMillis.get(), durationMillis.get());
    DiskWrites writes = target.diskWrites(topic, null).since(begin);
    senders.forEach(Target.Sender::close);
    receivers.forEach(Target.Receiver::close);
    if (outcome.failed() > 0) {
      throw CommandFailure.failed(
          outcome.failed() + " messages failed, the first with: " + outcome.firstFailure());
    }
    Double ratio = writes.worstRatio();
    return new Load(outcome, ratio == null ? null : ratio * writes.batchBytes());
  }

  /** Replaces a node by an empty one, and compares that with writing as many bytes. */
  private static void copy(OwnNodes nodes, long kept, JsonObject result)
      throws InterruptedException {
    OwnNodes.OwnNode node = nodes.node(WIPED);
    node.kill();
    DataDirectory.remove(node.data());
    double disk = diskSeconds(node.data().resolveSibling("disk"), kept);
    long begin = System.nanoTime();
    // The disk shall be the limit.
    node.begin("--snapshot-bytes-per-second", "1GiB");
    replace(new HttpApi(nodes.all().get(0).url()));
    node.awaitReady();
    double seconds = Stats.seconds(System.nanoTime() - begin);
    result
        .put("copySeconds", seconds)
        .put("diskSeconds", disk)
        .put("copyOfDisk", Stats.rounded(seconds / disk));
  }

  private static void replace(HttpApi api) throws InterruptedException {
    long started = System.nanoTime() + TimeUnit.SECONDS.toNanos(RETURN_SECONDS_MAX);
    long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(COPY_MINUTES_MAX);
    ReplacementView answer = null;
    while (answer == null || answer.state() == ReplacementView.State.RUNNING) {
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      try {
        Object json =
            answer == null
                ? api.ask(Operations.REPLACE_NODE, new ReplaceNode(WIPED))
                : api.ask(Operations.GET_REPLACEMENT, new GetReplacement(WIPED));
        answer = Operations.GET_REPLACEMENT.readAnswer(json);
      } catch (CommandFailure e) {
        // The empty node does not wait yet.
        if (answer != null || System.nanoTime() > started) {
          throw e;
        }
      }
      if (System.nanoTime() > until) {
        throw CommandFailure.failed(
            "node " + WIPED + " was not replaced within " + COPY_MINUTES_MAX + " min");
      }
    }
    if (answer.state() != ReplacementView.State.DONE) {
      throw CommandFailure.failed("the replacement of node " + WIPED + " failed: " + answer);
    }
  }

  /** How long the disk needs to write one file of this size. */
  private static double diskSeconds(Path file, long size) {
    ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
    long begin = System.nanoTime();
    try (FileChannel out =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE)) {
      for (long left = size; left > 0; left -= out.write(chunk)) {
        chunk.clear().limit((int) Math.min(left, CHUNK_BYTES));
      }
      out.force(true);
      return Stats.seconds(System.nanoTime() - begin);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot write " + file + ": " + e.getMessage(), e);
    }
  }
}
