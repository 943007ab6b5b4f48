package dev.evenkeel.broker.node;

import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers the log groups whose copy on this node is damaged: after a restart the node has the
 * same files. Each such log group has a file {@code damaged/GROUP} with a line for people. The file
 * goes with the data directory when the node is replaced.
 */
final class DamagedLogGroups {
  private static final Logger LOG = LoggerFactory.getLogger(DamagedLogGroups.class);

  /** Makes the names in a directory survive a crash. */
  interface DirectoryForce {
    void force(Path directory) throws IOException;
  }

  private final Path directory;
  private final DirectoryForce force;
  private final Executor files;

  /** The line for people, by log group. */
  private final Map<String, String> marks = new ConcurrentHashMap<>();

  /** By open log group. */
  private final Map<String, Eligibility> open = new ConcurrentHashMap<>();

  /**
   * @param files writes files for threads that must not wait for the disk
   */
  DamagedLogGroups(Path dataDirectory, DirectoryForce force, Executor files) {
    directory = dataDirectory.resolve("damaged");
    this.force = force;
    this.files = files;
  }

  /** Notes the damage, and that this node should not lead the log group. Waits for the disk. */
  void note(String group, String detail) {
    if (remember(group, detail)) {
      write(group, detail);
    }
  }

  /** The same from any thread: writes the file on another one. */
  private void noteSoon(String group, String detail) {
    if (remember(group, detail)) {
      files.execute(() -> write(group, detail));
    }
  }

  /**
   * @return whether it is the first damage of the log group
   */
  private boolean remember(String group, String detail) {
    if (marks.putIfAbsent(group, detail) != null) {
      return false;
    }
    LOG.error(
        "this node's copy of log group {} is damaged, and another should lead it: {}",
        group,
        detail);
    show(group);
    return true;
  }

  private void write(String group, String detail) {
    try {
      Files.createDirectories(directory);
      Files.writeString(
          directory.resolve(group),
          detail + "\n",
          StandardCharsets.UTF_8,
          StandardOpenOption.CREATE,
          StandardOpenOption.TRUNCATE_EXISTING,
          StandardOpenOption.WRITE,
          StandardOpenOption.SYNC);
      force.force(directory);
      force.force(directory.toAbsolutePath().getParent());
    } catch (IOException e) {
      LOG.warn(
          "the damage of log group {} will be forgotten at the next start: {}",
          group,
          e.toString());
    }
  }

  /**
   * Makes known damage a reason not to lead the log group, and notes damage that others find. A
   * file that cannot be read counts as damage. Reads a file.
   */
  void watch(LogGroup group) {
    Eligibility eligibility = group.eligibility();
    open.put(group.name(), eligibility);
    Path mark = directory.resolve(group.name());
    try {
      marks.putIfAbsent(group.name(), Files.readString(mark).strip());
    } catch (NoSuchFileException e) {
      // No damage was ever found.
    } catch (IOException e) {
      marks.putIfAbsent(group.name(), "the mark of earlier damage cannot be read: " + e);
      LOG.error(
          "{} cannot be read, so log group {} counts as damaged: {}",
          mark,
          group.name(),
          e.toString());
    }
    show(group.name());
    eligibility.onChange(
        () -> {
          String found = eligibility.reasons().get(Reason.DAMAGED);
          if (found != null) {
            noteSoon(group.name(), found);
          }
        });
  }

  private void show(String group) {
    Eligibility eligibility = open.get(group);
    String detail = marks.get(group);
    if (eligibility != null && detail != null) {
      eligibility.set(Reason.DAMAGED, detail);
    }
  }
}
