package dev.evenkeel.bench;

import dev.evenkeel.cli.ChildProcess;
import dev.evenkeel.cli.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Sends at a steady rate while consumers join, leave, are killed and vanish, one at a time. Each
 * round begins and ends with the same number of consumers.
 */
final class RebalanceLoad {
  /** What happens to a group. */
  enum Kind {
    /** One more consumer. */
    JOIN,
    /** One ends by SIGTERM. */
    LEAVE,
    /** One ends by SIGKILL: its connections are closed for it. */
    KILL,
    /** One is held by SIGSTOP: nothing is closed, as if its machine had gone. */
    VANISH
  }

  /** No change of owners for so long: the group is at rest. */
  private static final long REST_MILLIS = 3_000;

  /** What is looked at before a change. */
  private static final long BEFORE_MICROS = 2_000_000;

  private static final long SETTLE_SECONDS_MAX = 240;

  /** Owners that are the same for so long are at rest also while they work off what has waited. */
  private static final long REST_BEHIND_MILLIS = 30_000;

  private static final long END_SECONDS_MAX = 60;
  private static final long LOOK_EVERY_MILLIS = 50;

  /** A consumer under measurement, in a process of its own. */
  private record Member(String name, ChildProcess process) {}

  private final Target target;
  private final String topic;
  private final int keys;
  private final int sizeBytes;
  private final double perSecond;
  private final List<String> memberJvm;
  private final Path errors;
  private final Handlings handlings;
  private final Deque<Member> members = new ArrayDeque<>();
  private final Map<Kind, List<Handlings.Change>> changes = new EnumMap<>(Kind.class);
  private int started;

  /**
   * @param memberJvm options for the consumers' JVMs
   * @param errors where the consumers' standard error goes
   */
  RebalanceLoad(
      Target target,
      String topic,
      int shards,
      int keys,
      int sizeBytes,
      double perSecond,
      List<String> memberJvm,
      Path errors) {
    this.target = target;
    this.topic = topic;
    this.keys = keys;
    this.sizeBytes = sizeBytes;
    this.perSecond = perSecond;
    this.memberJvm = memberJvm;
    this.errors = errors;
    handlings = new Handlings(shards);
  }

  /** What came of it. */
  record Outcome(
      Map<Kind, List<Handlings.Change>> changes,
      long sent,
      long failed,
      long handled,
      Throwable firstFailure) {}

  /**
   * @param consumers before and after each round
   * @param kinds what happens, beside the joins that each of them needs
   * @param warmUpMillis how long the load goes on before the first change
   */
  Outcome run(int consumers, int repeats, Set<Kind> kinds, long warmUpMillis)
      throws InterruptedException {
    Target.Sender sender = target.sender(topic);
    long[] next = new long[keys];
    SteadySender sending =
        new SteadySender(
            sender, Long.MAX_VALUE, perSecond, (i, done) -> send(sender, next, i, done));
    try {
      for (int i = 0; i < consumers; i++) {
        members.add(begin());
      }
      awaitRest(0, consumers, null);
      TimeUnit.MILLISECONDS.sleep(warmUpMillis);
      for (int repeat = 0; repeat < repeats; repeat++) {
        for (Kind kind : kinds) {
          measured(Kind.JOIN);
          measured(kind);
        }
      }
      sending.finish(SETTLE_SECONDS_MAX);
      return new Outcome(
          changes, sending.sent(), sending.failed(), handlings.handled(), sending.firstFailure());
    } finally {
      sending.stop();
      members.forEach(member -> member.process().kill());
    }
  }

  private Member begin() {
    String name = "m" + ++started;
    List<String> command = new ArrayList<>(target.memberCommand(topic, topic + "-group", name));
    command.addAll(1, memberJvm);
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

  private void measured(Kind kind) throws InterruptedException {
    long begin = micros();
    handlings.begin(begin - BEFORE_MICROS);
    Member victim = null;
    if (kind == Kind.JOIN) {
      members.addLast(begin());
    } else {
      // The one that has been there for the longest.
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

  /** SIGSTOP: it vanishes, and nothing of it is closed. */
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

  /** Waits until all shards are served by all members, and owners do not change any more. */
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
            "the group did not come to rest within %s s: %s consumers, owners %s%s"
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
    int key = (int) ((i * 0x9E3779B97F4A7C15L >>> 33) % keys);
    String name = "key-" + key;
    byte[] payload = payload(name + " " + next[key]++ + " ");
    sender.send(name.getBytes(StandardCharsets.US_ASCII), payload, done);
  }

  private byte[] payload(String begin) {
    byte[] text = begin.getBytes(StandardCharsets.US_ASCII);
    byte[] payload = Arrays.copyOf(text, Math.max(text.length, sizeBytes));
    Arrays.fill(payload, text.length, payload.length, (byte) '.');
    return payload;
  }
}
