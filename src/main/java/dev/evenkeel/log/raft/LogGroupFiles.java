package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogStartException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks the files of a log group before the engine opens them. The engine silently formats a
 * missing or empty directory, but a node that has voted must never come back without its log: it
 * could help to elect a leader that lacks acknowledged entries.
 */
final class LogGroupFiles {
  private static final Pattern CLOSED = Pattern.compile("log_(\\d+)-(\\d+)");
  private static final Pattern OPEN = Pattern.compile("log_inprogress_(\\d+)");

  private LogGroupFiles() {}

  /** One of the engine's log files. */
  record Segment(Path file, long start, long end) {
    boolean open() {
      return end == Long.MAX_VALUE;
    }
  }

  /** Refuses directories that belong to no log group: they hold logs of something else. */
  static void checkNoOthers(Path raft, Set<String> expected) throws LogStartException {
    try {
      for (Path entry : DurableFiles.list(raft)) {
        String name = entry.getFileName().toString();
        if (Files.isDirectory(entry) && !expected.contains(name)) {
          throw new LogStartException(
              String.format(
                  "%s holds a log that does not belong to this cluster; restore %s from a "
                      + "backup, or move the log away",
                  entry, ClusterFile.NAME));
        }
      }
    } catch (IOException e) {
      throw new LogStartException("cannot read " + raft + ": " + e, e);
    }
  }

  /**
   * Refuses a log group whose directory is missing, or visibly lacks files.
   *
   * @param emptied whether its log was emptied to be copied anew
   */
  static void check(String group, Path directory, boolean emptied) throws LogStartException {
    Path current = directory.resolve("current");
    if (!Files.isDirectory(directory)) {
      throw lost(group, directory, "is missing");
    }
    if (!Files.isRegularFile(current.resolve("raft-meta"))) {
      throw lost(group, directory, "is empty or has no current/raft-meta");
    }
    try {
      checkSegments(group, directory, current, emptied);
    } catch (IOException e) {
      throw new LogStartException("cannot read the log of group '" + group + "': " + e, e);
    }
  }

  /** The log files in a directory, in the order of their entries. */
  static List<Segment> segments(Path current) throws IOException {
    List<Segment> segments = new ArrayList<>();
    for (Path file : DurableFiles.list(current)) {
      String name = file.getFileName().toString();
      Matcher closed = CLOSED.matcher(name);
      Matcher open = OPEN.matcher(name);
      if (closed.matches()) {
        segments.add(
            new Segment(file, Long.parseLong(closed.group(1)), Long.parseLong(closed.group(2))));
      } else if (open.matches()) {
        segments.add(new Segment(file, Long.parseLong(open.group(1)), Long.MAX_VALUE));
      }
    }
    segments.sort(Comparator.comparingLong(Segment::start));
    return segments;
  }

  private static void checkSegments(String group, Path directory, Path current, boolean emptied)
      throws IOException, LogStartException {
    List<Segment> segments = segments(current);
    long snapshot = SnapshotFiles.latestIndex(directory.resolve("sm"));
    // A follower that no leader has reached yet has neither, and that is no loss: its log never had
    // an entry. A log with entries keeps its configuration beside it.
    boolean written = Files.exists(current.resolve("raft-meta.conf"));
    if (segments.isEmpty() && snapshot < 0 && written && !emptied) {
      throw damaged(group, directory, "has no log file and no snapshot");
    }
    long next = snapshot + 1;
    for (Segment segment : segments) {
      if (segment.start() > next) {
        throw damaged(
            group, directory, "lacks the entries " + next + " to " + (segment.start() - 1));
      }
      next = Math.max(next, segment.open() ? next : segment.end() + 1);
    }
  }

  private static LogStartException lost(String group, Path directory, String what) {
    return new LogStartException(line(group, directory, what));
  }

  private static DamagedCopyException damaged(String group, Path directory, String what) {
    return new DamagedCopyException(group, line(group, directory, what), null);
  }

  private static String line(String group, Path directory, String what) {
    return String.format(
        "the log of group '%s' in %s %s, although this node has used it; restore the "
            + "data directory from a backup, or join as a new node with an empty one",
        group, directory, what);
  }
}
