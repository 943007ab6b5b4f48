package dev.evenkeel.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * One job, done by ours and by others.
 *
 * @param name for {@code -Dbench.only}
 * @param contenders the first is ours
 */
record ServiceCase(String name, List<Contestant> contenders) {
  static final String HEAD =
      """
      | case | system | a second | p50 / p99 in ms | Evenkeel / system, median (min to max) |
      |---|---|---|---|---|""";

  /** A system that does the job for one round. */
  record Contestant(String system, Callable<ServiceRound> round) {
    ServiceRound run() {
      try {
        return round.call();
      } catch (Exception e) {
        throw new IllegalStateException(system + " failed: " + e, e);
      }
    }
  }

  /** What others measured, and how much more ours did in the round before each of them. */
  private record Others(List<ServiceRound> rounds, List<Double> ratios) {}

  /** Runs ours and each other one in turn, after a warm-up, and gives the lines of a table. */
  List<String> lines(int rounds) {
    contenders.forEach(Contestant::run);
    Contestant ours = contenders.get(0);
    List<ServiceRound> own = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    List<Others> others = new ArrayList<>();
    contenders.forEach(each -> others.add(new Others(new ArrayList<>(), new ArrayList<>())));
    for (int round = 0; round < rounds; round++) {
      for (int i = 1; i < contenders.size(); i++) {
        ServiceRound first = ours.run();
        ServiceRound second = contenders.get(i).run();
        own.add(first);
        others.get(i).rounds().add(second);
        others.get(i).ratios().add(first.perSecond() / second.perSecond());
      }
    }
    lines.add(line(ours.system(), own, "1"));
    for (int i = 1; i < contenders.size(); i++) {
      List<Double> ratios = others.get(i).ratios();
      String ratio =
          String.format(
              Locale.ROOT,
              "%.2f (%.2f to %.2f)",
              Stats.median(ratios),
              Stats.min(ratios),
              Stats.max(ratios));
      lines.add(line(contenders.get(i).system(), others.get(i).rounds(), ratio));
    }
    return lines;
  }

  private String line(String system, List<ServiceRound> all, String ratio) {
    return "| `%s` | %s | %s | %s |"
        .formatted(name, system, ServiceRound.median(all).shown(), ratio);
  }
}
