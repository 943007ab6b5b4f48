package dev.evenkeel.log.raft;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.ratis.server.protocol.TermIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the last entry that each log group has applied, and the last one that was flushed as well,
 * in a small file beside the logs. A log that lacks one of these has lost entries: to the engine, a
 * truncated segment looks like a write that a crash interrupted.
 *
 * <p>The file is replaced without a flush. After a power cut it may be an older one. Its positions
 * are lower, so they raise no false alarm.
 */
final class AppliedPositions {
  private static final Logger LOG = LoggerFactory.getLogger(AppliedPositions.class);
  private static final String FILE = "applied";

  /**
   * How far a log group was.
   *
   * @param applied the last entry that it had applied; of a cluster, others may have it alone
   * @param flushed index of the last entry that was applied and on this node's disk; -1: none
   */
  record Position(TermIndex applied, long flushed) {}

  private final Path file;
  private Map<String, Position> written = Map.of();

  AppliedPositions(Path directory) {
    file = directory.resolve(FILE);
  }

  /** The positions of the last run, by log group; empty if none can be read. */
  Map<String, Position> read() throws IOException {
    Map<String, Position> marks = new HashMap<>();
    if (!Files.exists(file)) {
      return marks;
    }
    List<String> lines = Files.readAllLines(file);
    // The last line shows that the file is complete.
    if (lines.isEmpty() || !lines.get(lines.size() - 1).equals("end")) {
      LOG.warn("{} is incomplete and is ignored", file);
      return marks;
    }
    for (String line : lines.subList(0, lines.size() - 1)) {
      String[] parts = line.split(" ");
      try {
        TermIndex applied = TermIndex.valueOf(Long.parseLong(parts[1]), Long.parseLong(parts[2]));
        marks.put(parts[0], new Position(applied, Long.parseLong(parts[3])));
      } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
        LOG.warn("{} has an unknown line and is ignored: {}", file, line);
        return new HashMap<>();
      }
    }
    return marks;
  }

  /** Writes the positions of the log groups, if they have changed. */
  void write(List<RaftLogGroup> groups) {
    Map<String, Position> now = new LinkedHashMap<>();
    groups.forEach(
        group ->
            now.put(
                group.name(),
                new Position(group.copy().adapter().applied(), group.copy().flushedIndex())));
    if (!now.equals(written)) {
      write(now);
    }
  }

  void write(Map<String, Position> now) {
    List<String> lines = new ArrayList<>();
    now.forEach(
        (group, at) ->
            lines.add(
                "%s %d %d %d\n"
                    .formatted(
                        group, at.applied().getTerm(), at.applied().getIndex(), at.flushed())));
    lines.add("end\n");
    Path next = file.resolveSibling(FILE + ".tmp");
    try {
      Files.writeString(next, String.join("", lines));
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      written = now;
    } catch (IOException e) {
      // The disk may be full. The former positions stay, and are still true.
      LOG.debug("cannot write {}", file, e);
    }
  }
}
