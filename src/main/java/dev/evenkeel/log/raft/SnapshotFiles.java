package dev.evenkeel.log.raft;

import dev.evenkeel.protocol.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.impl.FileListSnapshotInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Snapshots of one group: a directory {@code snapshot.<term>_<index>} each, in the engine's
 * directory for them, which installing a snapshot from a leader replaces as a whole.
 */
final class SnapshotFiles implements StateMachineStorage {
  /** The state's own files in a snapshot. */
  static final String STATE = "state";

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotFiles.class);
  private static final Pattern NAME = Pattern.compile("snapshot\\.(\\d+)_(\\d+)");
  private static final String DIGEST_SUFFIX = ".md5";

  private Path directory;
  private Path temporary;
  private volatile Snapshot latest;

  /** One snapshot and what it covers. */
  record Snapshot(TermIndex position, Path directory) {
    Path state() {
      return directory.resolve(STATE);
    }
  }

  @Override
  public void init(RaftStorage storage) throws IOException {
    directory = storage.getStorageDir().getStateMachineDir().toPath().toAbsolutePath();
    temporary = storage.getStorageDir().getTmpDir().toPath().toAbsolutePath();
    DurableFiles.deleteTree(temporary);
    Files.createDirectories(directory);
    reload();
  }

  /** Looks at the disk again, as after a snapshot was installed. */
  void reload() throws IOException {
    for (Path path : DurableFiles.list(directory)) {
      deleteDigests(path);
    }
    latest = newest(directory);
  }

  Snapshot latest() {
    return latest;
  }

  /** A directory to write a new snapshot into; empty, and forgotten unless published. */
  Path stage(TermIndex position) throws IOException {
    Path staged = temporary.resolve("taking-" + name(position));
    DurableFiles.deleteTree(staged);
    Files.createDirectories(staged);
    return staged;
  }

  /** Makes a staged snapshot, already flushed, the latest one in one step. */
  void publish(TermIndex position, Path staged) throws IOException {
    Path target = directory.resolve(name(position));
    DurableFiles.deleteTree(target);
    DurableFiles.move(staged, target);
    latest = new Snapshot(position, target);
  }

  /**
   * The latest snapshot on disk, or null. While one is being installed, the engine replaces the
   * directory of all snapshots and asks this in the middle of it; an exception would then leave old
   * log files behind, so what cannot be listed is not there.
   */
  @Override
  public SnapshotInfo getLatestSnapshot() {
    try {
      Snapshot snapshot = latest;
      if (snapshot == null || !Files.isDirectory(snapshot.directory())) {
        snapshot = newest(directory);
      }
      return snapshot == null ? null : describe(snapshot);
    } catch (IOException | UncheckedIOException e) {
      LOG.info("no snapshot can be listed in {} at the moment: {}", directory, e.toString());
      return null;
    }
  }

  private static SnapshotInfo describe(Snapshot snapshot) throws IOException {
    try (Stream<Path> paths = Files.walk(snapshot.directory())) {
      // Without a digest the engine computes it while it sends the file.
      List<FileInfo> files =
          paths
              .filter(path -> Files.isRegularFile(path) && !path.toString().endsWith(DIGEST_SUFFIX))
              .sorted()
              .map(path -> new FileInfo(path, null))
              .toList();
      return new FileListSnapshotInfo(
          files, snapshot.position().getTerm(), snapshot.position().getIndex());
    }
  }

  @Override
  public void format() {}

  @Override
  public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) throws IOException {
    keepNewest(policy.getNumSnapshotsRetained());
  }

  /** Deletes all snapshots but the newest so many. */
  void keepNewest(int kept) throws IOException {
    List<Snapshot> all = list(directory);
    for (Snapshot old : all.subList(0, Math.max(0, all.size() - kept))) {
      DurableFiles.deleteTree(old.directory());
    }
  }

  /** Index of the latest snapshot in a directory, or -1. */
  static long latestIndex(Path directory) throws IOException {
    Snapshot newest = newest(directory);
    return newest == null ? -1 : newest.position().getIndex();
  }

  private static Snapshot newest(Path directory) throws IOException {
    List<Snapshot> all = list(directory);
    return all.isEmpty() ? null : all.get(all.size() - 1);
  }

  private static List<Snapshot> list(Path directory) throws IOException {
    List<Snapshot> found = new ArrayList<>();
    for (Path path : DurableFiles.list(directory)) {
      Matcher matcher = NAME.matcher(path.getFileName().toString());
      if (matcher.matches() && Files.isDirectory(path)) {
        long term = Long.parseLong(matcher.group(1));
        long index = Long.parseLong(matcher.group(2));
        found.add(new Snapshot(TermIndex.valueOf(term, index), path));
      }
    }
    found.sort(Comparator.comparing(Snapshot::position));
    return found;
  }

  private static String name(TermIndex position) {
    return "snapshot." + position.getTerm() + "_" + position.getIndex();
  }

  /** An installed snapshot has a digest beside each file, which is no part of the state. */
  private static void deleteDigests(Path snapshot) throws IOException {
    try (Stream<Path> paths = Files.walk(snapshot)) {
      for (Path path : paths.filter(p -> p.toString().endsWith(DIGEST_SUFFIX)).toList()) {
        String name = path.toString();
        Path digested = Path.of(name.substring(0, name.length() - DIGEST_SUFFIX.length()));
        if (Files.exists(digested)) {
          Files.delete(path);
        }
      }
    }
  }
}
