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
 * The last entry that each group had applied a moment ago, in a small file beside the logs. A log
 * that lacks it has lost entries: to the engine a segment that was cut off looks like a write that
 * a crash had torn.
 *
 * <p>The file is replaced without being flushed. After a power cut it may be an older one, whose
 * marks are lower, which is no false alarm.
 */
final class AppliedPositions {
  private static final Logger LOG = LoggerFactory.getLogger(AppliedPositions.class);
  private static final String FILE = "applied";

  private final Path file;
  private Map<String, TermIndex> written = Map.of();

  AppliedPositions(Path directory) {
    file = directory.resolve(FILE);
  }

  /** The marks of the last run by group; empty if there are none that can be read. */
  Map<String, TermIndex> read() throws IOException {
    Map<String, TermIndex> marks = new HashMap<>();
    if (!Files.exists(file)) {
      return marks;
    }
    List<String> lines = Files.readAllLines(file);
    // The last line tells that the file is whole.
    if (lines.isEmpty() || !lines.get(lines.size() - 1).equals("end")) {
      LOG.warn("{} is not whole and counts for nothing", file);
      return marks;
    }
    for (String line : lines.subList(0, lines.size() - 1)) {
      String[] parts = line.split(" ");
      try {
        marks.put(parts[0], TermIndex.valueOf(Long.parseLong(parts[1]), Long.parseLong(parts[2])));
      } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
        LOG.warn("{} has a line that is none of ours and counts for nothing: {}", file, line);
        return Map.of();
      }
    }
    return marks;
  }

  /** Notes how far the groups are, if that has changed. */
  void write(List<RaftLogGroup> groups) {
    Map<String, TermIndex> now = new LinkedHashMap<>();
    groups.forEach(group -> now.put(group.name(), group.adapter().applied()));
    if (now.equals(written)) {
      return;
    }
    List<String> lines = new ArrayList<>();
    now.forEach((group, at) -> lines.add(group + " " + at.getTerm() + " " + at.getIndex() + "\n"));
    lines.add("end\n");
    Path next = file.resolveSibling(FILE + ".tmp");
    try {
      Files.writeString(next, String.join("", lines));
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      written = now;
    } catch (IOException e) {
      // A full disk, say. The former marks stay, and are true as well.
      LOG.debug("cannot write {}", file, e);
    }
  }
}
