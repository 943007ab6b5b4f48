package dev.evenkeel.log.raft;

import dev.evenkeel.log.DamagedStateException;
import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.StateMachineStorage;

/**
 * Snapshots of one group: a directory {@code snapshot.<term>_<index>} each, in the engine's
 * directory for them, and beside them what has come of another node's snapshot.
 */
final class SnapshotFiles implements StateMachineStorage {
  /** The state's own files in a snapshot. */
  static final String STATE = "state";

  /** A snapshot is kept for this long after another node has asked for it or read from it. */
  static final long HELD_NANOS = TimeUnit.MINUTES.toNanos(2);

  private static final Pattern NAME = Pattern.compile("snapshot\\.(\\d+)_(\\d+)");
  private static final String INCOMING = "incoming";
  private static final String POSITION = "position";

  private final LongSupplier nanos;
  private Path directory;
  private Path temporary;
  private volatile Snapshot latest;

  /** Until when a snapshot is held for other nodes; guarded by this. */
  private final Map<TermIndex, Long> heldUntil = new HashMap<>();

  /** Snapshots that are kept until they are let go; guarded by this. */
  private final Set<TermIndex> pinned = new HashSet<>();

  /** How many the engine wants to keep; guarded by this. */
  private int retained = Integer.MAX_VALUE;

  /** Snapshots before this one go as soon as nobody needs them; null: none. */
  private TermIndex droppedBefore;

  /** Guarded by this. */
  private boolean closed;

  /**
   * @param nanos a clock as {@link System#nanoTime()}
   */
  SnapshotFiles(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** One snapshot and what it covers. The engine does not learn its files. */
  record Snapshot(TermIndex position, Path directory) implements SnapshotInfo {
    Path state() {
      return directory.resolve(STATE);
    }

    /** The last entry that the state itself had applied: the log also has entries of its own. */
    long stateIndex() throws IOException {
      try {
        return Long.parseLong(Files.readString(directory.resolve(POSITION)).trim());
      } catch (NumberFormatException | CharacterCodingException | NoSuchFileException e) {
        throw new DamagedStateException("the snapshot " + directory + " is damaged", e);
      }
    }

    @Override
    public TermIndex getTermIndex() {
      return position;
    }

    @Override
    public List<FileInfo> getFiles() {
      return List.of();
    }
  }

  @Override
  public void init(RaftStorage storage) throws IOException {
    directory = storage.getStorageDir().getStateMachineDir().toPath().toAbsolutePath();
    temporary = storage.getStorageDir().getTmpDir().toPath().toAbsolutePath();
    DurableFiles.deleteTree(temporary);
    PrivateFiles.createDirectories(directory);
    latest = newest(directory);
  }

  Snapshot latest() {
    return latest;
  }

  /** All snapshots on disk, oldest first. */
  List<Snapshot> all() throws IOException {
    return list(directory);
  }

  /** What has come of another node's snapshot. */
  IncomingSnapshot incoming() {
    return new IncomingSnapshot(directory.resolve(INCOMING));
  }

  /** A directory to write a new snapshot into; empty, to be published or forgotten. */
  Path stage(TermIndex position) throws IOException {
    forgetStaged();
    return PrivateFiles.createDirectories(taking().resolve(name(position)));
  }

  /** Deletes what was staged: it has links to files, and would keep their space. */
  void forgetStaged() throws IOException {
    DurableFiles.deleteTree(taking());
  }

  private Path taking() {
    return temporary.resolve("taking");
  }

  /** Adds to a staged snapshot what {@link Snapshot#stateIndex} reads. */
  static void writeStateIndex(Path staged, long index) throws IOException {
    DurableFiles.write(
        staged.resolve(POSITION), Long.toString(index).getBytes(StandardCharsets.US_ASCII));
  }

  /** Makes a staged snapshot, already flushed, one of this node in one step. */
  synchronized void publish(TermIndex position, Path staged) throws IOException {
    Path target = directory.resolve(name(position));
    DurableFiles.deleteTree(target);
    DurableFiles.move(staged, target);
    if (latest == null || latest.position().compareTo(position) <= 0) {
      latest = new Snapshot(position, target);
    }
  }

  @Override
  public SnapshotInfo getLatestSnapshot() {
    return latest;
  }

  /**
   * Keeps a snapshot for a while, whatever the engine says.
   *
   * @return its directory; null if it is gone
   */
  synchronized Path hold(TermIndex position) {
    Path held = directory.resolve(name(position));
    if (!Files.isDirectory(held)) {
      return null;
    }
    heldUntil.put(position, nanos.getAsLong() + HELD_NANOS);
    return held;
  }

  /** Keeps a snapshot until {@link #unpin}. False if it is gone. */
  synchronized boolean pin(TermIndex position) {
    if (!Files.isDirectory(directory.resolve(name(position)))) {
      return false;
    }
    pinned.add(position);
    return true;
  }

  synchronized void unpin(TermIndex position) throws IOException {
    pinned.remove(position);
    cleanup();
  }

  @Override
  public void format() {}

  @Override
  public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) throws IOException {
    retain(policy.getNumSnapshotsRetained());
  }

  private synchronized void retain(int kept) throws IOException {
    retained = kept;
    cleanup();
  }

  /** Deletes all snapshots but the newest one; later those that other nodes or checksums need. */
  synchronized void dropFormer() throws IOException {
    Snapshot newest = newest(directory);
    if (newest != null) {
      droppedBefore = newest.position();
      cleanup();
    }
  }

  /** Deletes what need not be kept any more. True if something is kept for other nodes. */
  synchronized boolean letGo() throws IOException {
    cleanup();
    return !closed && !heldUntil.isEmpty();
  }

  /** From now on, it deletes nothing: another copy of the group may be in the directory. */
  synchronized void close() {
    closed = true;
  }

  private void cleanup() throws IOException {
    if (closed) {
      return;
    }
    long now = nanos.getAsLong();
    heldUntil.values().removeIf(until -> until - now < 0);
    List<Snapshot> all = list(directory);
    for (int i = 0; i < all.size(); i++) {
      Snapshot old = all.get(i);
      boolean goes =
          i < all.size() - retained
              || droppedBefore != null && old.position().compareTo(droppedBefore) < 0;
      if (goes && !heldUntil.containsKey(old.position()) && !pinned.contains(old.position())) {
        DurableFiles.deleteTree(old.directory());
      }
    }
  }

  /** Index of the latest snapshot in a directory, or -1. */
  static long latestIndex(Path directory) throws IOException {
    Snapshot newest = newest(directory);
    return newest == null ? -1 : newest.position().getIndex();
  }

  /** The latest snapshot in a directory, or null. */
  static Snapshot newest(Path directory) throws IOException {
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
}
