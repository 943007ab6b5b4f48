package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this node remembers of damage of its copy of one log group, and how far it is with copying
 * the log group anew (ADR 30). The file {@code damaged/GROUP} has a line for people, and maybe a
 * second line:
 *
 * <pre>
 * SOUND     no file              the node uses its copy
 * DAMAGED   one line             the node uses its copy, and another should lead
 * DUE       "copy"               at the next start, the node sets the files of its copy aside
 * COPYING   "copying above T"    the copy is a new one and lacks entries that the node had
 *                                acknowledged, in terms up to T: the node has no vote
 * </pre>
 *
 * The files that were set aside are in {@code damaged/GROUP.files} until the state is SOUND again.
 * May be used from any thread.
 */
final class DamagedCopy {
  private static final Logger LOG = LoggerFactory.getLogger(DamagedCopy.class);
  private static final String COPY = "copy";
  private static final String COPYING = "copying above ";

  private final String group;
  private final Path directory;
  private final Path mark;

  private final LongAdder keptOut = new LongAdder();

  /** What is damaged, for people; null: nothing. */
  private volatile String detail;

  private volatile boolean due;

  /** The highest term in which the former copy can have acknowledged entries; -1: not copying. */
  private volatile long formerTerm = -1;

  /**
   * @param directory of all marks; may be missing
   */
  DamagedCopy(Path directory, String group) {
    this.group = group;
    this.directory = directory;
    mark = directory.resolve(group);
  }

  /** Reads what an earlier run has noted. */
  void read() throws IOException {
    DurableFiles.deleteTree(needless());
    if (!Files.exists(mark)) {
      return;
    }
    List<String> lines = Files.readAllLines(mark);
    detail = lines.isEmpty() ? "the copy was damaged" : lines.get(0);
    String stage = lines.size() > 1 ? lines.get(1) : "";
    if (stage.matches(COPYING + "\\d{1,18}")) {
      formerTerm = Long.parseLong(stage.substring(COPYING.length()));
    } else {
      // A line that cannot be read may have said that the node has no vote.
      due = !stage.isEmpty();
    }
  }

  String group() {
    return group;
  }

  /** What is damaged, for people; null: nothing is known to be. */
  String detail() {
    return detail;
  }

  boolean due() {
    return due;
  }

  /** Whether the copy may lack entries that this node has acknowledged. */
  boolean copying() {
    return formerTerm >= 0;
  }

  /** Whether this node must not vote in the log group, nor ask for votes. */
  boolean isVoteless() {
    return due || copying();
  }

  /**
   * Whether this node must keep out of an election of which the engine has just asked or been
   * asked.
   */
  boolean keepsOut() {
    if (isVoteless()) {
      keptOut.increment();
      return true;
    }
    return false;
  }

  /** How often this node has kept out of an election since it started. */
  long keptOut() {
    return keptOut.sum();
  }

  /** The highest term in which the former copy can have acknowledged entries. */
  long formerTerm() {
    return formerTerm;
  }

  /** Where the files that were set aside are. */
  Path files() {
    return directory.resolve(group + ".files");
  }

  /** The files that were set aside, when nobody needs them any more. */
  private Path needless() {
    return directory.resolve(group + ".needless");
  }

  /**
   * Notes damage. It need not be on disk when this returns.
   *
   * @return whether it is the first one
   */
  synchronized boolean note(String found) {
    if (detail != null) {
      return false;
    }
    detail = found.replace('\n', ' ');
    LOG.error("this node's copy of log group {} is damaged: {}", group, detail);
    return true;
  }

  /** Writes down what was noted. */
  synchronized void write() {
    try {
      persist();
    } catch (IOException e) {
      LOG.warn("the damage of log group {} will be forgotten at the next start: {}", group, e, e);
    }
  }

  /** The copy is of no more use. When this returns, the next start is certain to set it aside. */
  synchronized void makeDue(String found) throws IOException {
    note(found);
    due = true;
    formerTerm = -1;
    persist();
  }

  /**
   * Moves the files of the log and of the state away, so that both begin empty. The term and the
   * vote stay. After a crash in the middle, the next start moves the rest.
   *
   * @param log the engine's directory of this group
   * @throws LogStartException if the engine's file with term and vote cannot be read
   */
  synchronized void setAside(Path log, ReplicatedState state)
      throws IOException, LogStartException {
    Path current = log.resolve("current");
    long term = term(current.resolve("raft-meta"));
    Path target = files().resolve(String.valueOf(DurableFiles.list(files()).size() + 1));
    PrivateFiles.createDirectories(target);
    DurableFiles.force(files());
    DurableFiles.force(directory);
    for (LogGroupFiles.Segment file : LogGroupFiles.segments(current)) {
      DurableFiles.move(file.file(), target.resolve(file.file().getFileName()));
    }
    DurableFiles.force(current);
    if (Files.exists(log.resolve("sm"))) {
      DurableFiles.move(log.resolve("sm"), target.resolve("sm"));
      DurableFiles.force(log);
    }
    state.setAside(target);
    due = false;
    formerTerm = term;
    persist();
    LOG.warn(
        "log group {}: the files of the damaged copy are in {} until there is a new one, which this"
            + " node copies from the others: {}",
        group,
        target,
        detail);
  }

  private long term(Path metadata) throws LogStartException {
    Properties properties = new Properties();
    try (Reader in = Files.newBufferedReader(metadata, StandardCharsets.UTF_8)) {
      properties.load(in);
      return Long.parseLong(properties.getProperty("term"));
    } catch (IOException | IllegalArgumentException e) {
      throw new LogStartException(
          ("the copy of log group '%s' is damaged (%s), and so is %s, which says for whom this"
                  + " node has voted (%s); replace this node")
              .formatted(group, detail, metadata, e),
          e);
    }
  }

  /** The new copy has everything again that the former one had. */
  synchronized void finished() throws IOException {
    if (Files.exists(files())) {
      DurableFiles.move(files(), needless());
    }
    Files.deleteIfExists(mark);
    DurableFiles.force(directory);
    detail = null;
    due = false;
    formerTerm = -1;
    LOG.warn("log group {}: this node has a whole copy again", group);
    DurableFiles.deleteTree(needless());
  }

  private void persist() throws IOException {
    PrivateFiles.createDirectories(directory);
    DurableFiles.force(directory.toAbsolutePath().getParent());
    String stage = due ? COPY + "\n" : copying() ? COPYING + formerTerm + "\n" : "";
    DurableFiles.write(mark, (detail + "\n" + stage).getBytes(StandardCharsets.UTF_8));
  }
}
