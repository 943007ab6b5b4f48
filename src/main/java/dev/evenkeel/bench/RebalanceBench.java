package dev.evenkeel.bench;

import dev.evenkeel.cli.ChildProcess;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;

/** {@code evenkeel bench rebalance}. */
@Command(
    name = "rebalance",
    description = {
      "Measures how long shards pause when consumers join, leave, are killed or vanish.",
      "Each consumer is a process that works for a millisecond on each message. The pause of a"
          + " shard that moves is the time from the last message of the old owner to the first of"
          + " the new one; for a shard that stays, it is the longest time between two messages."
    },
    footer = {
      "  evenkeel bench rebalance",
      "  evenkeel bench rebalance --repeats 5 --kinds kill",
      "  evenkeel bench rebalance --consumers 6 --shards 24 --rate 4000 --format json",
      "",
      "'steady' is the longest time between two messages of a shard in the two seconds before a",
      "change: where that is long, the machine was busy."
    })
final class RebalanceBench extends Benchmark {
  /** What happens to a group. */
  enum Kind {
    /** One more consumer joins. */
    JOIN,
    /** One leaves by SIGTERM. */
    LEAVE,
    /** One is ended by SIGKILL; the system closes its connections. */
    KILL,
    /** One is frozen by SIGSTOP; its connections stay open, as if its machine had gone. */
    VANISH
  }

  /** The group is at rest when no owner has changed for this time. */
  private static final long REST_MILLIS = 3_000;

  /** How long before a change the steady state is measured. */
  private static final long BEFORE_MICROS = 2_000_000;

  private static final long SETTLE_SECONDS_MAX = 240;

  /** After this time without a change, the group is at rest even while it works off a backlog. */
  private static final long REST_BEHIND_MILLIS = 30_000;

  private static final long END_SECONDS_MAX = 60;
  private static final long LOOK_EVERY_MILLIS = 50;

  private static final int KEYS_UNLESS_GIVEN = 200;

  private final Supplier<Integer> repeats =
      options.flags.integer("--repeats", "20", 1, 10_000, "How often each kind happens");

  private final Supplier<List<Kind>> kinds =
      options.flags.constants(
          "--kinds",
          "leave|kill|vanish",
          Kind.class,
          "leave,kill,vanish",
          "leave (SIGTERM), kill (SIGKILL), vanish (SIGSTOP, so that connections stay open). Before"
              + " each of them one more consumer joins, which is measured, too");

  private final Supplier<Integer> consumers =
      options.flags.integer("--consumers", "3", 1, Integer.MAX_VALUE, "Consumers before each join");

  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "2000", 100_000, "Messages a second, over all shards");

  private final Supplier<String> memberJvm =
      options.flags.text(
          "--member-jvm",
          "OPTIONS",
          "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
          "Options for the consumers' JVMs, '' for none (default: ${DEFAULT-VALUE}: a consumer"
              + " lives for half a minute, most of which a default JVM would spend on compiling).");

  private final Supplier<Long> warmUpMillis =
      options.flags.time(
          "--warm-up",
          "30s",
          "How long to send before the first change, so that the nodes have compiled their code");

  private final Deque<Member> members = new ArrayDeque<>();
  private final Map<Kind, List<Handlings.Change>> changes = new EnumMap<>(Kind.class);
  private Target target;
  private String topic;
  private Handlings handlings;

  /** Where the consumers' standard error goes. */
  private Path errors;

  private int started;

  /** A consumer process. */
  private record Member(String name, ChildProcess process) {}

  @Override
  void check() {
    CommandFailure.refuseIf(
        kinds.get().contains(Kind.JOIN), "--kinds 'join': use leave, kill or vanish");
    OptionFormats.range("--consumers", consumers.get(), 1, options.shards.get() - 1L);
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    target = opened;
    topic = newTopic(target);
    handlings = new Handlings(options.shards.get());
    errors = errors();
    try {
      SteadySender sent = load();
      print(sent);
      delete(errors);
      return status(sent.sent(), sent.failed(), sent.firstFailure());
    } catch (CommandFailure e) {
      complain("the output of the consumers is in " + errors);
      throw e;
    }
  }

  private int keys() {
    return options.keys.get() == 0 ? KEYS_UNLESS_GIVEN : options.keys.get();
  }

  private Path errors() {
    try {
      Files.createDirectories(options.data());
      return Files.createTempFile(options.data(), "evenkeel-members-", ".err");
    } catch (IOException e) {
      throw CommandFailure.failed("--data: " + e.getMessage(), e);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      complain("could not remove " + file + ": " + e);
    }
  }

  private void print(SteadySender sent) {
    Table table = new Table("KIND", "MILLISECONDS", "COUNT", "MEDIAN", "P99", "MAX");
    JsonObject json =
        result(target)
            .put("keys", keys())
            .put("rate", rate.get())
            .put("consumers", consumers.get())
            .put("memberJvm", memberJvm.get())
            .put("repeats", repeats.get())
            .put("sent", sent.sent())
            .put("acked", sent.sent() - sent.failed())
            .put("failed", sent.failed())
            .put("handled", handlings.handled());
    changes.forEach(
        (kind, changes) -> {
          String name = kind.name().toLowerCase(Locale.ROOT);
          JsonObject of = new JsonObject().put("count", changes.size());
          figure(table, of, name, "moved", changes, Handlings.Change::movedMillis);
          figure(table, of, name, "stayed", changes, Handlings.Change::stayedMillis);
          figure(table, of, name, "steady", changes, Handlings.Change::steadyMillis);
          counts(table, of, name, "moves", changes, change -> (long) change.moves());
          counts(table, of, name, "duplicates", changes, Handlings.Change::duplicates);
          json.put(name, of);
        });
    options.print(table.text(), json);
  }

  private static void figure(
      Table table,
      JsonObject json,
      String kind,
      String what,
      List<Handlings.Change> changes,
      Function<Handlings.Change, List<Double>> millis) {
    Percentiles all = new Percentiles();
    for (Handlings.Change change : changes) {
      millis.apply(change).forEach(each -> all.add(Math.round(each * 1e6)));
    }
    table.row(kind, what, all.count(), all.millis(50), all.millis(99), all.millis(100));
    json.put(
        what,
        new JsonObject()
            .put("count", all.count())
            .put("medianMillis", all.millis(50))
            .put("p99Millis", all.millis(99))
            .put("maxMillis", all.millis(100)));
  }

  private static void counts(
      Table table,
      JsonObject json,
      String kind,
      String what,
      List<Handlings.Change> changes,
      Function<Handlings.Change, Long> count) {
    List<Long> counts = changes.stream().map(count).toList();
    double median = Stats.median(counts);
    table.row(kind, what + " (number)", counts.size(), median, null, Stats.max(counts));
    json.put(
        what,
        new JsonObject()
            .put("median", median)
            .put("max", Stats.max(counts))
            .put("each", new JsonArray(new ArrayList<>(counts))));
  }

  /**
   * Sends at a steady rate while consumers join, leave, are killed and vanish, one at a time. Each
   * round begins and ends with the same number of consumers.
   */
  private SteadySender load() throws InterruptedException {
    Target.Sender sender = target.sender(topic);
    long[] next = new long[keys()];
    SteadySender sending =
        new SteadySender(
            sender, Long.MAX_VALUE, rate.get(), (i, done) -> send(sender, next, i, done));
    try {
      for (int i = 0; i < consumers.get(); i++) {
        members.add(begin());
      }
      awaitRest(0, consumers.get(), null);
      TimeUnit.MILLISECONDS.sleep(warmUpMillis.get());
      for (int repeat = 0; repeat < repeats.get(); repeat++) {
        for (Kind kind : new LinkedHashSet<>(kinds.get())) {
          measureChange(Kind.JOIN);
          measureChange(kind);
        }
      }
      sending.finish(SETTLE_SECONDS_MAX);
      return sending;
    } finally {
      sending.stop();
      members.forEach(member -> member.process().kill());
    }
  }

  private Member begin() {
    String name = "m" + ++started;
    List<String> command = new ArrayList<>(target.memberCommand(topic, topic + "-group", name));
    command.addAll(1, BenchOptions.jvmOptions(memberJvm.get()));
    ChildProcess process =
        ChildProcess.start(
            "consumer " + name,
            command,
            ProcessBuilder.Redirect.appendTo(errors.toFile()),
            line -> {
              HandledLine each = line == null ? null : HandledLine.parse(line);
              if (each != null) {
                handlings.add(name, each);
              }
            });
    process.closeInput();
    return new Member(name, process);
  }

  private void measureChange(Kind kind) throws InterruptedException {
    long begin = micros();
    handlings.begin(begin - BEFORE_MICROS);
    Member victim = null;
    if (kind == Kind.JOIN) {
      members.addLast(begin());
    } else {
      // The oldest consumer is the victim.
      victim = members.removeFirst();
      switch (kind) {
        case LEAVE -> victim.process().terminate();
        case KILL -> victim.process().kill();
        default -> freeze(victim.process());
      }
    }
    awaitRest(begin, members.size(), victim);
    changes.computeIfAbsent(kind, k -> new ArrayList<>()).add(handlings.change(begin));
    if (victim != null) {
      if (kind == Kind.VANISH) {
        victim.process().kill();
      }
      long endMillisMax = TimeUnit.SECONDS.toMillis(END_SECONDS_MAX);
      if (!victim.process().awaitEnd(endMillisMax)) {
        victim.process().kill();
        victim.process().awaitEnd(endMillisMax);
      }
    }
  }

  /** Freezes a process with SIGSTOP. */
  private static void freeze(ChildProcess process) throws InterruptedException {
    try {
      Process kill =
          new ProcessBuilder("kill", "-STOP", String.valueOf(process.pid())).inheritIO().start();
      if (kill.waitFor() != 0) {
        throw CommandFailure.failed("a consumer cannot be held: kill -STOP failed");
      }
    } catch (IOException e) {
      throw CommandFailure.failed("a consumer cannot be held: " + e.getMessage(), e);
    }
  }

  /** Waits until the members serve all shards, and the owners no longer change. */
  private void awaitRest(long sinceMicros, int count, Member victim) throws InterruptedException {
    Set<String> names = members.stream().map(Member::name).collect(Collectors.toSet());
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(SETTLE_SECONDS_MAX);
    List<String> owners = List.of();
    long sameSince = System.nanoTime();
    while (true) {
      List<String> now = handlings.owners();
      if (!now.equals(owners)) {
        owners = now;
        sameSince = System.nanoTime();
      }
      long restMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sameSince);
      long servedSince =
          restMillis >= REST_BEHIND_MILLIS
              ? sinceMicros
              : Math.max(sinceMicros, micros() - REST_MILLIS * 1_000);
      if (restMillis >= REST_MILLIS
          && new HashSet<>(owners).equals(names)
          && handlings.servedSince(servedSince, names)) {
        return;
      }
      if (System.nanoTime() > until) {
        throw CommandFailure.failed(
            "the group did not settle within %s s: %s consumers, owners %s%s"
                .formatted(
                    SETTLE_SECONDS_MAX,
                    count,
                    owners,
                    victim == null ? "" : " after the end of " + victim.name()));
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
    }
  }

  private static long micros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }

  private void send(Target.Sender sender, long[] next, long i, Target.Done done) {
    int key = (int) ((i * 0x9E3779B97F4A7C15L >>> 33) % keys());
    String name = "key-" + key;
    byte[] payload = payload(name + " " + next[key]++ + " ");
    sender.send(name.getBytes(StandardCharsets.US_ASCII), payload, done);
  }

  private byte[] payload(String begin) {
    byte[] text = begin.getBytes(StandardCharsets.US_ASCII);
    byte[] payload = Arrays.copyOf(text, Math.max(text.length, options.sizeBytes()));
    Arrays.fill(payload, text.length, payload.length, (byte) '.');
    return payload;
  }
}
