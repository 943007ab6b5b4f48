package dev.evenkeel.broker;

import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.store.StoreFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers in which log groups this node's copy was found damaged: a node that starts again has
 * the same files. Each has a file {@code damaged/GROUP} with a line for people, which goes with the
 * data directory when the node is replaced.
 */
final class DamageMarks {
  private static final Logger LOG = LoggerFactory.getLogger(DamageMarks.class);

  private final Path directory;

  /** What this process has noted, or read; guarded by this. */
  private final Map<String, String> marks = new HashMap<>();

  /** Of the groups that are open; guarded by this. */
  private final Map<String, Eligibility> open = new HashMap<>();

  DamageMarks(Path dataDirectory) {
    directory = dataDirectory.resolve("damaged");
  }

  /** Notes what was found, and that this node should not lead the group. Waits for the disk. */
  synchronized void note(String group, String detail) {
    if (marks.putIfAbsent(group, detail) != null) {
      return;
    }
    LOG.error(
        "this node's copy of log group {} is damaged, and another should lead it: {}",
        group,
        detail);
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
      StoreFiles.forceDirectory(directory);
      StoreFiles.forceDirectory(directory.toAbsolutePath().getParent());
    } catch (IOException e) {
      LOG.warn("the damage of log group {} will be forgotten at the next start: {}", group, e);
    }
    show(group);
  }

  /** From now on what is known of the group is among its reasons, and the other way round. */
  synchronized void watch(LogGroup group) throws IOException {
    Eligibility eligibility = group.eligibility();
    open.put(group.name(), eligibility);
    try {
      marks.putIfAbsent(group.name(), Files.readString(directory.resolve(group.name())).strip());
    } catch (NoSuchFileException e) {
      // Nothing was ever found.
    }
    show(group.name());
    eligibility.onChange(
        () -> {
          String found = eligibility.reasons().get(Reason.DAMAGED);
          if (found != null) {
            note(group.name(), found);
          }
        });
  }

  private void show(String group) {
    Eligibility eligibility = open.get(group);
    if (eligibility != null && marks.containsKey(group)) {
      eligibility.add(Reason.DAMAGED, marks.get(group));
    }
  }
}
