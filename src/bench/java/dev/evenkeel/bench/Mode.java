package dev.evenkeel.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * One part of the comparison: a load, the systems that bear it, and what is aimed at.
 *
 * @param name for {@code -Dbench.only}
 * @param args of the command {@code bench}
 * @param systems the first is ours
 * @param figures paths into the results, such as {@code endToEnd.p99Millis}
 * @param goals of our figure against another system's
 */
record Mode(
    String name,
    List<String> args,
    List<Contender> systems,
    List<String> figures,
    List<Goal> goals) {

  /**
   * @param against null: the figure itself is compared, not its ratio to another system's
   * @param atLeast whether ours over theirs shall be at least {@code ratio}; else at most
   */
  record Goal(String figure, String against, boolean atLeast, double ratio) {
    boolean met(double actual) {
      return atLeast ? actual >= ratio : actual <= ratio;
    }

    /**
     * @param actual null if it is unknown
     */
    String shown(Double actual) {
      String met = actual == null ? "" : met(actual) ? ", met" : ", missed";
      return (atLeast ? ">= " : "<= ") + ratio + met;
    }
  }

  private static final String RATE = "messagesPerSecond";

  /** Bytes that a node writes to disk for each byte of batches that are acknowledged. */
  private static final String WRITTEN = "writtenRatio";

  /**
   * Groups that read a topic before the measured one. Both systems need about a minute until their
   * code is compiled, on two processors that also do the work.
   */
  private static final String CONSUME_WARM_UPS = "12";

  private static Mode consume(String name, String size, long messages) {
    return new Mode(
        name,
        List.of(
            "consume",
            "--size",
            size,
            "--messages",
            String.valueOf(messages),
            "--warmup",
            CONSUME_WARM_UPS),
        List.of(Contender.EVENKEEL, Contender.KAFKA),
        List.of(RATE),
        List.of(atLeast(Contender.KAFKA, 1.0)));
  }

  /**
   * @param seconds of each measurement; warm-up takes as long
   * @param repeats of each change of a group
   */
  static List<Mode> all(long seconds, int repeats) {
    String time = seconds + "s";
    List<String> produce = List.of("produce", "--warmup", time, "--duration", time);
    List<Contender> produceSystems =
        List.of(
            Contender.EVENKEEL,
            Contender.KAFKA,
            Contender.KAFKA_TUNED,
            Contender.KAFKA_FSYNC,
            Contender.KAFKA_FSYNC_TUNED);
    Goal written = new Goal(WRITTEN, null, false, 1.3);
    List<Goal> small =
        List.of(
            atLeast(Contender.KAFKA, 1.1),
            atLeast(Contender.KAFKA_TUNED, 1.2),
            atLeast(Contender.KAFKA_FSYNC, 1.5),
            atLeast(Contender.KAFKA_FSYNC_TUNED, 2.0),
            written);
    List<Goal> large =
        List.of(
            atLeast(Contender.KAFKA, 0.9),
            atLeast(Contender.KAFKA_TUNED, 1.0),
            atLeast(Contender.KAFKA_FSYNC_TUNED, 1.5),
            written);
    List<Goal> three =
        List.of(atLeast(Contender.KAFKA, 1.0), atLeast(Contender.KAFKA_TUNED, 1.0), written);
    return List.of(
        new Mode("produce-100", with(produce, "--size", "100B"), produceSystems, SENDING, small),
        new Mode(
            "produce-100-keys",
            with(produce, "--size", "100B", "--keys", "1000"),
            List.of(Contender.EVENKEEL, Contender.KAFKA, Contender.KAFKA_TUNED),
            SENDING,
            List.of()),
        new Mode("produce-1k", with(produce, "--size", "1KiB"), produceSystems, SENDING, large),
        consume("consume-100", "100B", seconds * 1_000_000),
        consume("consume-1k", "1KiB", seconds * 250_000),
        new Mode(
            "latency-1000",
            List.of("latency", "--rate", "1000", "--warmup", time, "--duration", 2 * seconds + "s"),
            List.of(Contender.EVENKEEL, Contender.KAFKA_FSYNC_AT_ONCE),
            List.of("endToEnd.p50Millis", "endToEnd.p99Millis"),
            List.of(
                new Goal("endToEnd.p50Millis", Contender.KAFKA_FSYNC_AT_ONCE.name(), false, 1.0),
                new Goal("endToEnd.p99Millis", Contender.KAFKA_FSYNC_AT_ONCE.name(), false, 1.0))),
        new Mode(
            "produce-100-three",
            with(produce, "--size", "100B", "--nodes", "3"),
            produceSystems,
            SENDING,
            three),
        new Mode(
            "produce-1k-three",
            with(produce, "--size", "1KiB", "--nodes", "3"),
            produceSystems,
            SENDING,
            three),
        new Mode(
            "failover",
            List.of("failover", "--rounds", "3"),
            List.of(Contender.EVENKEEL),
            List.of("led.medianMillis", "elsewhere.medianMillis"),
            List.of()),
        new Mode(
            "rebalance",
            List.of("rebalance", "--repeats", String.valueOf(repeats)),
            List.of(
                Contender.EVENKEEL,
                Contender.KAFKA_STICKY,
                Contender.KAFKA_STICKY_SOON,
                Contender.KAFKA_NEW,
                Contender.KAFKA_NEW_SOON),
            List.of(
                "join.moved.medianMillis",
                "join.moved.p99Millis",
                "join.stayed.p99Millis",
                "join.moves.median",
                "leave.moved.medianMillis",
                "leave.moved.p99Millis",
                "leave.duplicates.median",
                "kill.moved.medianMillis",
                "kill.moved.maxMillis",
                "kill.stayed.p99Millis",
                "kill.duplicates.median",
                "vanish.moved.medianMillis",
                "vanish.moved.maxMillis"),
            List.of()));
  }

  /** What a figure is called in a table. */
  static String label(String figure) {
    return switch (figure) {
      case RATE -> "messages/s";
      case WRITTEN -> "written to disk";
      default -> "`" + figure + "`";
    };
  }

  /** Takes hours, so it runs only if it is named. */
  boolean longRun() {
    return name.equals("rebalance");
  }

  /** How long one run may take: consumers that are given up after 45 s take their time. */
  long runMinutesMax() {
    return longRun() ? 120 : 6;
  }

  private static final List<String> SENDING = List.of(RATE, WRITTEN);

  private static Goal atLeast(Contender against, double ratio) {
    return new Goal(RATE, against.name(), true, ratio);
  }

  private static List<String> with(List<String> args, String... more) {
    List<String> all = new ArrayList<>(args);
    all.addAll(List.of(more));
    return all;
  }
}
