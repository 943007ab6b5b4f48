package dev.evenkeel.functional;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What a Java process takes: live objects in bytes (after a collection), resident memory in bytes,
 * threads, open files.
 */
public record Footprint(long liveBytes, long residentBytes, long threads, long files) {
  private static final Path JCMD = Path.of(System.getProperty("java.home"), "bin", "jcmd");

  public static Footprint of(long pid) throws IOException, InterruptedException {
    Path proc = Path.of("/proc", String.valueOf(pid));
    long live = liveBytes(pid);
    List<String> status = Files.readAllLines(proc.resolve("status"));
    try (Stream<Path> open = Files.list(proc.resolve("fd"))) {
      return new Footprint(
          live,
          1024 * number(status, "VmRSS:"),
          number(status, "Threads:"),
          open.filter(each -> !isTable(each)).count());
    }
  }

  /** Whether it is a table of a node's store: their number follows what is stored. */
  private static boolean isTable(Path open) {
    try {
      return Files.readSymbolicLink(open).toString().endsWith(".sst");
    } catch (IOException e) {
      // It was closed meanwhile.
      return false;
    }
  }

  private static long number(List<String> status, String name) {
    String line = status.stream().filter(each -> each.startsWith(name)).findFirst().orElseThrow();
    return Long.parseLong(line.replaceAll("\\D", ""));
  }

  private static long liveBytes(long pid) throws IOException, InterruptedException {
    Process jcmd =
        new ProcessBuilder(JCMD.toString(), String.valueOf(pid), "GC.class_histogram")
            .redirectErrorStream(true)
            .start();
    String total = "";
    try (var reader = jcmd.inputReader()) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        total = line.startsWith("Total") ? line : total;
      }
    }
    if (!jcmd.waitFor(60, TimeUnit.SECONDS) || total.isEmpty()) {
      throw new IOException("no histogram of process " + pid);
    }
    return Long.parseLong(total.trim().split("\\s+")[2]);
  }

  /** The number of files that a JVM started here may have open. */
  static long filesMax() throws IOException {
    String line =
        Files.readAllLines(Path.of("/proc/self/limits")).stream()
            .filter(each -> each.startsWith("Max open files"))
            .findFirst()
            .orElseThrow();
    String hard = line.trim().split("\\s{2,}")[2];
    return hard.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(hard);
  }

  /** What grew between the middle third and the last third of samples, by the medians of each. */
  static List<String> grown(List<Footprint> samples) {
    int third = samples.size() / 3;
    Footprint before = median(samples.subList(third, 2 * third));
    Footprint after = median(samples.subList(2 * third, samples.size()));
    List<String> grown = new ArrayList<>();
    compare(grown, "live bytes", before.liveBytes, after.liveBytes, 8 << 20);
    compare(grown, "resident bytes", before.residentBytes, after.residentBytes, 24 << 20);
    compare(grown, "threads", before.threads, after.threads, 3);
    compare(grown, "files", before.files, after.files, 12);
    return grown;
  }

  private static void compare(
      List<String> grown, String what, long before, long after, long slack) {
    if (after > before + before / 10 + slack) {
      grown.add(what + ": " + before + " -> " + after);
    }
  }

  private static Footprint median(List<Footprint> some) {
    return new Footprint(
        some.stream().mapToLong(Footprint::liveBytes).sorted().toArray()[some.size() / 2],
        some.stream().mapToLong(Footprint::residentBytes).sorted().toArray()[some.size() / 2],
        some.stream().mapToLong(Footprint::threads).sorted().toArray()[some.size() / 2],
        some.stream().mapToLong(Footprint::files).sorted().toArray()[some.size() / 2]);
  }
}
