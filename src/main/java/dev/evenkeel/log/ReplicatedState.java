package dev.evenkeel.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The state machine of a log group. One thread at a time calls it, in log order. It must be
 * deterministic: the same entries give the same state and replies on every node.
 */
public interface ReplicatedState {

  /**
   * Opens the live state. Called before anything else, and again only after {@link #close} or when
   * it has failed.
   *
   * @throws DamagedStateException if its files are damaged
   */
  void open() throws IOException;

  /**
   * Checks an entry that this node is about to append as the leader. Called on the appending
   * thread, before the entry is in the log; it must return at once.
   *
   * @param head the first part of the entry; the whole entry unless it is a joined one
   * @throws dev.evenkeel.protocol.RefusedException if the entry must not get into the log: it is
   *     malformed, or some node of the cluster could not read it
   */
  default void admit(ByteBuffer head) {}

  /**
   * Applies one committed entry. An index at or below {@link #appliedIndex()} has been applied
   * before (after a restart the log replays from its last snapshot, which is older than the live
   * state): it must change nothing, and its reply is not used.
   *
   * <p>An exception is a bug or a broken disk: the node stops, for it could only go on with a state
   * that differs from the others'. The applied position has not moved then. If {@link
   * DamagedStateException} is among the causes, the next start copies the log group anew.
   *
   * @param head a read-only view of the entry's bytes, without its body, which are never changed or
   *     used again: the state may keep it or slices of it without copying. What it keeps holds the
   *     whole entry in memory.
   * @param body of the entry, if it has one. It can be read from {@link #bodies()} by then, too,
   *     but need not have been forced
   * @return the reply to whoever appended it
   * @throws UnreadableEntryException if another version of the program is needed to read the entry
   */
  ByteBuffer apply(long term, long index, ByteBuffer head, EntryBody body);

  /**
   * Where the bodies of the entries are; null if no entry has one. The log opens it before {@link
   * #open}, writes to it, and closes it after {@link #close}.
   */
  default EntryBodies bodies() {
    return null;
  }

  /** Index of the last entry applied, or -1. */
  long appliedIndex();

  /** Term of the last entry applied, or 0. */
  long appliedTerm();

  /**
   * Writes a complete, durable copy of the state into a directory that does not exist yet. Called
   * on the applying thread: it must be quick.
   */
  void snapshot(Path directory) throws IOException;

  /** Replaces the whole state by that of a snapshot, whose files stay untouched. */
  void restore(Path directory) throws IOException;

  /**
   * Moves all files of the state and of its bodies into a directory that exists, by renames, so
   * that both begin empty. Only before they are opened. After a crash in the middle it is called
   * again, with another directory.
   */
  default void setAside(Path directory) throws IOException {}

  /** Closes the live state. Called once for each {@link #open()} that succeeded. */
  void close() throws IOException;
}
