package dev.evenkeel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Prints how long the tests of a build took in all, and which classes took longest. */
public final class SlowestTests {
  private static final int COUNT = 20;
  private static final Pattern SUITE =
      Pattern.compile(
          "<testsuite [^>]*?\\bname=\"([^\"]*)\" time=\"([^\"]*)\""
              + " tests=\"(\\d+)\" errors=\"(\\d+)\" skipped=\"(\\d+)\" failures=\"(\\d+)\"");

  private record Suite(
      String name, double seconds, int tests, int errors, int skipped, int failures) {}

  private SlowestTests() {}

  /**
   * @param args a file that the build writes before the tests, and the directories of their reports
   */
  public static void main(String[] args) throws IOException {
    FileTime began = Files.getLastModifiedTime(Path.of(args[0]));
    List<Suite> suites = new ArrayList<>();
    for (String directory : List.of(args).subList(1, args.length)) {
      suites.addAll(suites(Path.of(directory), began));
    }
    System.out.printf(
        "Tests run: %d, Failures: %d, Errors: %d, Skipped: %d%n",
        suites.stream().mapToInt(Suite::tests).sum(),
        suites.stream().mapToInt(Suite::failures).sum(),
        suites.stream().mapToInt(Suite::errors).sum(),
        suites.stream().mapToInt(Suite::skipped).sum());
    System.out.printf(
        "%d classes; sum of their times: %.0f s. The slowest:%n",
        suites.size(), suites.stream().mapToDouble(Suite::seconds).sum());
    suites.stream()
        .sorted(Comparator.comparingDouble(Suite::seconds).reversed())
        .limit(COUNT)
        .forEach(suite -> System.out.printf("%7.1f s  %s%n", suite.seconds, suite.name));
  }

  private static List<Suite> suites(Path directory, FileTime began) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    List<Suite> suites = new ArrayList<>();
    try (Stream<Path> reports = Files.list(directory)) {
      for (Path report : reports.filter(each -> each.toString().endsWith(".xml")).toList()) {
        Matcher suite = SUITE.matcher(Files.readString(report));
        if (Files.getLastModifiedTime(report).compareTo(began) >= 0 && suite.find()) {
          suites.add(
              new Suite(
                  suite.group(1),
                  Double.parseDouble(suite.group(2)),
                  Integer.parseInt(suite.group(3)),
                  Integer.parseInt(suite.group(4)),
                  Integer.parseInt(suite.group(5)),
                  Integer.parseInt(suite.group(6))));
        }
      }
    }
    return suites;
  }
}
