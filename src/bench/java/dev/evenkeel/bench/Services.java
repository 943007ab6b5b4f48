package dev.evenkeel.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The services for programs beside Hazelcast's own structures: coordinators, dedup and elections.
 * Prints a line for each system in each case; the lines are in {@code services.md} too.
 *
 * <p>System properties: {@code bench.only}, beginnings of the names of cases, separated by commas;
 * {@code bench.rounds}, rounds of each pair; {@code bench.seconds}, how long one takes (5); {@code
 * bench.kills}, killed leaders in each round (2); {@code bench.data}, the folder of nodes and
 * results; {@code bench.jar}, the program of the nodes.
 */
public final class Services {
  private Services() {}

  public static void main(String[] args) {
    int status = 0;
    try {
      run();
    } catch (Exception e) {
      e.printStackTrace();
      status = 1;
    }
    // The programs would look for their nodes before they end.
    Runtime.getRuntime().halt(status);
  }

  private static void run() throws Exception {
    long seconds = Long.parseLong(setting("bench.seconds", "5"));
    int kills = Integer.parseInt(setting("bench.kills", "2"));
    int rounds = Integer.parseInt(setting("bench.rounds", "3"));
    Path data = Path.of(setting("bench.data", "target/bench"));
    Path jar = Path.of(setting("bench.jar", "target/evenkeel.jar"));
    List<String> only =
        Arrays.stream(setting("bench.only", "").split(","))
            .filter(each -> !each.isBlank())
            .toList();
    List<String> lines = new ArrayList<>();
    try (ServiceClusters clusters = ServiceClusters.start(data, jar)) {
      print(ServiceCase.HEAD, lines);
      for (ServiceCase each : cases(clusters, TimeUnit.SECONDS.toMillis(seconds), kills)) {
        if (only.isEmpty() || only.stream().anyMatch(each.name()::startsWith)) {
          each.lines(rounds).forEach(line -> print(line, lines));
        }
      }
    }
    Files.write(data.resolve("services.md"), lines);
  }

  private static void print(String line, List<String> lines) {
    System.out.println(line);
    lines.add(line);
  }

  /** What Maven does not know is empty. */
  private static String setting(String name, String unless) {
    String value = System.getProperty(name, "");
    return value.isBlank() ? unless : value;
  }

  private static List<ServiceCase> cases(ServiceClusters clusters, long millis, int kills) {
    return Stream.of(
            CoordinatorCase.of(clusters, true, millis),
            CoordinatorCase.of(clusters, false, millis),
            DedupCase.manyAtOnce(clusters, true, millis),
            DedupCase.manyAtOnce(clusters, false, millis),
            DedupCase.blocking(clusters, true, millis),
            DedupCase.blocking(clusters, false, millis),
            ElectionCase.checks(clusters, millis),
            ElectionCase.resigns(clusters, millis),
            ElectionCase.kills(clusters, kills))
        .toList();
  }
}
