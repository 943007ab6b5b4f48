package dev.evenkeel.log.raft;

import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.protocol.files.DurableFiles;
import dev.evenkeel.protocol.files.PrivateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Deletes this node's copy of a log group in which it has no vote any more. The file {@code
 * dropped/GROUP} says how far that is, so that a crash in the middle is no loss of files that
 * nobody knows of:
 *
 * <pre>
 * no file    the copy is as the log left it
 * "drop"     its files are to be deleted, before anything opens them
 * "empty"    they are deleted, and the log may be missing, because it was not opened since
 * </pre>
 */
final class DroppedCopy {
  private static final String DROP = "drop";
  private static final String EMPTY = "empty";

  private final Path directory;
  private final Path mark;
  private final Path files;

  /**
   * @param directory of all marks; may be missing
   */
  DroppedCopy(Path directory, String group) {
    this.directory = directory;
    mark = directory.resolve(group);
    files = directory.resolve(group + ".files");
  }

  /** When this returns, the files are certain to be deleted, if need be at the next start. */
  void begin() throws IOException {
    PrivateFiles.createDirectories(directory);
    DurableFiles.force(directory.toAbsolutePath().getParent());
    write(DROP);
  }

  /** Whether {@link #finish} is to be called. */
  boolean due() throws IOException {
    return stage().equals(DROP);
  }

  /** Whether the log may be missing. */
  boolean empty() throws IOException {
    return stage().equals(EMPTY);
  }

  private String stage() throws IOException {
    return Files.exists(mark) ? Files.readString(mark).trim() : "";
  }

  /**
   * Deletes the files, none of which is open.
   *
   * @param log the engine's directory of this group
   */
  void finish(Path log, ReplicatedState state) throws IOException {
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
  void opened() throws IOException {
    if (Files.deleteIfExists(mark)) {
      DurableFiles.force(directory);
    }
    DurableFiles.deleteTree(files);
  }

  private void write(String stage) throws IOException {
    DurableFiles.write(mark, (stage + "\n").getBytes(StandardCharsets.UTF_8));
  }
}
