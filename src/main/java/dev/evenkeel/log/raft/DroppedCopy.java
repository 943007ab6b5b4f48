package dev.evenkeel.log.raft;

import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What has become of this node's copy of a log group in which it lost its vote. A copy that is made
 * after that begins with the first entries of the log, which may say that this node has a vote, or
 * even the only one. So the node has no vote until the copy has the entry that gave it the vote
 * again. The file {@code dropped/GROUP} says how far it is, and above which index that entry is:
 *
 * <pre>
 * no file    the copy is as the log left it
 * "drop"     its files are to be deleted, before anything opens them
 * "empty"    they are deleted, and the log may be missing, because it was not opened since
 * "copying"  the log is open, and what it says about this node's vote may be out of date
 * </pre>
 *
 * May be used from any thread.
 */
final class DroppedCopy {
  private static final String DROP = "drop";
  private static final String EMPTY = "empty";
  private static final String COPYING = "copying";

  private final Path directory;
  private final Path mark;
  private final Path files;
  private volatile String stage = "";
  private volatile long above = -1;

  /**
   * @param directory of all marks; may be missing
   */
  DroppedCopy(Path directory, String group) {
    this.directory = directory;
    mark = directory.resolve(group);
    files = directory.resolve(group + ".files");
  }

  /** Reads what an earlier run has noted. */
  synchronized void read() throws IOException {
    String[] words = Files.exists(mark) ? Files.readString(mark).trim().split(" ") : new String[0];
    stage = words.length > 0 ? words[0] : "";
    above = words.length > 1 ? Long.parseLong(words[1]) : -1;
  }

  /**
   * When this returns, the files are certain to be deleted, if need be at the next start.
   *
   * @param above index of an entry at which this node had no vote
   */
  synchronized void begin(long above) throws IOException {
    PrivateFiles.createDirectories(directory);
    DurableFiles.force(directory.toAbsolutePath().getParent());
    this.above = above;
    write(DROP);
  }

  /** Whether {@link #finish} is to be called. */
  boolean due() {
    return stage.equals(DROP);
  }

  /** Whether the log may be missing. */
  boolean empty() {
    return stage.equals(EMPTY);
  }

  /** Whether this node must not vote in the log group, nor ask for votes. */
  boolean isVoteless() {
    return !stage.isEmpty();
  }

  /** Whether a configuration that names this node as a voter is no older than its last vote. */
  boolean isPassed(long configurationIndex) {
    return stage.equals(COPYING) && configurationIndex > above;
  }

  /**
   * Deletes the files, none of which is open.
   *
   * @param log the engine's directory of this group
   */
  synchronized void finish(Path log, ReplicatedState state) throws IOException {
    DurableFiles.deleteTree(files);
    PrivateFiles.createDirectories(files);
    DurableFiles.force(directory);
    if (Files.exists(log)) {
      DurableFiles.move(log, files.resolve("log"));
      DurableFiles.force(log.toAbsolutePath().getParent());
    }
    state.setAside(files);
    write(EMPTY);
    DurableFiles.deleteTree(files);
  }

  /** The log is open again. */
  synchronized void opened() throws IOException {
    if (stage.equals(EMPTY)) {
      write(COPYING);
    }
    DurableFiles.deleteTree(files);
  }

  /** The copy has the entry that gave this node its vote again. */
  synchronized void voting() throws IOException {
    if (Files.deleteIfExists(mark)) {
      DurableFiles.force(directory);
    }
    stage = "";
  }

  private void write(String next) throws IOException {
    DurableFiles.write(mark, (next + " " + above + "\n").getBytes(StandardCharsets.UTF_8));
    stage = next;
  }
}
