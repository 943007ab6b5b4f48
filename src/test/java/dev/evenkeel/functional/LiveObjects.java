package dev.evenkeel.functional;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * What this JVM holds after a collection of garbage.
 *
 * @param counts class → number of objects
 * @param bytes of all classes together
 * @param threads name without its numbers → number of threads
 * @param files open files; 0 where the system does not say
 */
public record LiveObjects(
    Map<String, Long> counts, long bytes, Map<String, Long> threads, int files) {
  private static final Pattern ROW = Pattern.compile("\\s*\\d+:\\s+(\\d+)\\s+(\\d+)\\s+(\\S+).*");

  /** The number that tells classes of lambdas apart. */
  private static final Pattern NUMBER = Pattern.compile("[/+]0x[0-9a-f]+|/\\d+");

  private static final Map<String, String> NAMES = new HashMap<>();

  public static synchronized LiveObjects now() {
    Map<String, Long> counts = new TreeMap<>();
    long bytes = 0;
    for (String line : histogram().split("\n")) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        String name = NUMBER.matcher(row.group(3)).replaceAll("");
        // The same name each time: so that looking adds little to what is looked at.
        counts.merge(
            NAMES.computeIfAbsent(name, same -> same), Long.parseLong(row.group(1)), Long::sum);
        bytes += Long.parseLong(row.group(2));
      }
    }
    return new LiveObjects(counts, bytes, threadsByName(), openFiles());
  }

  private static String histogram() {
    try {
      return (String)
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
    } catch (JMException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Map<String, Long> threadsByName() {
    return Thread.getAllStackTraces().keySet().stream()
        .collect(groupingBy(each -> each.getName().replaceAll("[0-9]+", "N"), counting()));
  }

  private static int openFiles() {
    String[] open = new File("/proc/self/fd").list();
    return open == null ? 0 : open.length;
  }

  /** What there is more of than before: a line for each, if it is at least {@code least} more. */
  List<String> moreThan(LiveObjects before, Pattern classes, long least) {
    List<String> more = new ArrayList<>();
    more(before.counts, counts, least).stream()
        .filter(name -> classes.matcher(name).lookingAt())
        .forEach(more::add);
    more(before.threads, threads, least).forEach(name -> more.add("threads " + name));
    if (files >= before.files + least) {
      more.add("open files: " + before.files + ", then " + files);
    }
    return more;
  }

  private static List<String> more(Map<String, Long> before, Map<String, Long> now, long least) {
    List<String> more = new ArrayList<>();
    now.forEach(
        (name, count) -> {
          long former = before.getOrDefault(name, 0L);
          if (count >= former + least) {
            more.add(name + ": " + former + ", then " + count);
          }
        });
    return more;
  }
}
