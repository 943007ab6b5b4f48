package dev.evenkeel.seconduser;

import dev.evenkeel.functional.Jar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Attacks one after the other, each between times in which the honest user is alone. */
final class AttackRun {
  /** What is not back after this time is left over for ever. */
  private static final int SOCKETS_SECONDS = 60;

  /** Connections of the honest user, and of the node itself, come and go. */
  private static final int SOCKETS_MORE = 20;

  /** Percentiles of fewer operations say little. */
  private static final int COUNT_MIN = 100;

  /** Of one attack, over all rounds. */
  private static final class Row {
    final List<Figures> attacked = new ArrayList<>();

    /** Right after it, while the node looks at its heap for us. */
    final List<Figures> settling = new ArrayList<>();

    final List<Figures> after = new ArrayList<>();
    final List<String> outcomes = new ArrayList<>();
    final List<String> faults = new ArrayList<>();
    long sockets;
    long liveBytes;
  }

  private final TwoUsers users;
  private final Map<Attack, Row> rows = new LinkedHashMap<>();
  private final List<Figures> alone = new ArrayList<>();
  private final int seconds;
  private final Path progress;
  private long socketsAlone;

  /**
   * @param seconds of each attack
   * @param progress where to write the report so far after each attack
   */
  AttackRun(TwoUsers users, int seconds, Path progress) {
    this.users = users;
    this.progress = progress;
    this.seconds = seconds;
  }

  private static void sleep(long seconds) throws InterruptedException {
    TimeUnit.SECONDS.sleep(seconds);
  }

  /** Looks for so many seconds at the honest user alone, before all attacks. */
  void alone(int count) throws Exception {
    users.honest.next();
    sleep(count);
    alone.add(users.honest.next());
    socketsAlone = Math.max(socketsAlone, users.sockets());
  }

  /** Returns whether the node lives. */
  boolean attack(Attack attack) throws Exception {
    Row row = rows.computeIfAbsent(attack, any -> new Row());
    try (Jar.Running attacker = users.attack(List.of(attack), seconds, 1)) {
      attacker.process.waitFor(seconds + 60, TimeUnit.SECONDS);
      row.outcomes.add(said(attacker, "outcome "));
      if (!said(attacker, "BUG").isEmpty()) {
        row.faults.add("the node told of an error of its own");
      }
    }
    Figures attacked = users.honest.next();
    row.attacked.add(attacked);
    sleep(1);
    for (int i = 0; i < SOCKETS_SECONDS && users.lives() && tooMany(users.sockets()); i++) {
      sleep(1);
    }
    try {
      TwoUsers.Holds holds = users.holds();
      row.sockets = holds.sockets();
      row.liveBytes = holds.liveBytes();
      if (tooMany(holds.sockets())) {
        row.faults.add("sockets remain: " + holds.sockets() + ", alone " + socketsAlone);
      }
    } catch (IOException e) {
      row.faults.add("the node does not say what it holds: " + e);
    }
    row.settling.add(users.honest.next());
    sleep(Math.max(1, seconds / 2));
    row.after.add(users.honest.next());
    System.out.printf("%s %s%n", attack.name(), attacked);
    Files.writeString(progress, report());
    return users.lives();
  }

  private boolean tooMany(long sockets) {
    return sockets > socketsAlone + SOCKETS_MORE;
  }

  static String said(Jar.Running attacker, String prefix) {
    return String.join(
        "; ", attacker.out().lines().filter(line -> line.startsWith(prefix)).toList());
  }

  private static Figures sum(List<Figures> all) {
    Figures sum = new Figures();
    all.forEach(sum::add);
    return sum;
  }

  /** What others must not do to the honest user; empty: they did not. */
  List<String> faults() {
    List<String> faults = new ArrayList<>();
    rows.forEach(
        (attack, row) -> {
          List<Figures> all = new ArrayList<>(row.attacked);
          all.addAll(row.settling);
          all.addAll(row.after);
          sum(all)
              .failures()
              .forEach((name, why) -> faults.add(attack.name() + ": " + name + ": " + why));
          row.faults.forEach(fault -> faults.add(attack.name() + ": " + fault));
        });
    sum(alone).failures().forEach((name, why) -> faults.add("alone: " + name + ": " + why));
    return faults;
  }

  /** A table in Markdown, and what the honest user's operations took. */
  String report() {
    Figures calm = sum(alone);
    StringBuilder report =
        new StringBuilder(
            "| attack | by | success % | send p99 ms, alone | attacked | after | worst p99"
                + " | times | sockets | MiB live |\n|---|---|---|---|---|---|---|---|---|---|\n");
    rows.forEach(
        (attack, row) -> {
          Figures attacked = sum(row.attacked);
          String worst = worst(calm, attacked);
          report.append(
              String.format(
                  Locale.ROOT,
                  "| %s | %s | %.2f | %.1f | %.1f | %.1f | %s | %.1f | %d | %d |%n",
                  attack.name(),
                  attack.user() == null ? "a stranger" : attack.user(),
                  attacked.success(),
                  calm.millis("send", 99),
                  attacked.millis("send", 99),
                  sum(row.after).millis("send", 99),
                  worst,
                  worst == null ? 0 : ratio(calm, attacked, worst),
                  row.sockets,
                  row.liveBytes >> 20));
        });
    report.append("\nalone: ").append(calm).append('\n');
    rows.forEach(
        (attack, row) ->
            report.append(attack.name()).append(": ").append(sum(row.attacked)).append('\n'));
    report.append('\n');
    rows.forEach((attack, row) -> row.outcomes.forEach(each -> report.append(each).append('\n')));
    faults().forEach(fault -> report.append("FAULT ").append(fault).append('\n'));
    return report.toString();
  }

  private static double ratio(Figures calm, Figures attacked, String name) {
    return attacked.millis(name, 99) / Math.max(0.1, calm.millis(name, 99));
  }

  /** The operation whose p99 grew most; null: none was done often enough. */
  private static String worst(Figures calm, Figures attacked) {
    String worst = null;
    for (String name : attacked.names()) {
      boolean counts = attacked.count(name) >= COUNT_MIN && calm.count(name) >= COUNT_MIN;
      if (counts && (worst == null || ratio(calm, attacked, name) > ratio(calm, attacked, worst))) {
        worst = name;
      }
    }
    return worst;
  }
}
