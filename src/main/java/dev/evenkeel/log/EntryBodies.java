package dev.evenkeel.log;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * Keeps the bodies of a log group's entries on disk, each written once. The log itself has the
 * heads of the entries. {@link #open} comes first.
 *
 * <p>The log appends and forces on one thread. The applying thread calls {@link #link} and {@link
 * #restore} meanwhile, and any thread may read.
 *
 * <p>Whoever keeps the files may delete a body when the state does not need it any more, but only
 * of an entry below {@link LogCopy#firstIndex()}: the log sends the others to followers, and a
 * leader that cannot read one counts as damaged. Bodies that a snapshot links stay in the snapshot.
 */
public interface EntryBodies extends Closeable {
  /**
   * The body of one entry.
   *
   * @param parts its bytes, in their order; never changed afterwards
   */
  record Body(long term, long index, List<ByteBuffer> parts) {}

  /**
   * A part of a body to be read.
   *
   * @param offset from the beginning of the body
   * @param into filled from its position to its limit
   */
  record Part(long index, int offset, ByteBuffer into) {}

  /**
   * Opens the files of the last run. Bodies above {@code flushedIndex} may be torn; such a body
   * counts as missing.
   *
   * @param flushedIndex index of an entry up to which every body is known to have been on disk; -1:
   *     not known of any
   */
  void open(long flushedIndex) throws IOException;

  /**
   * Writes bodies, in the order of the log. An index at or below one that is there replaces that
   * body and all above it. Returns before they are on disk.
   */
  void append(List<Body> bodies) throws IOException;

  /** Makes everything that was written survive a crash of the machine. */
  void force() throws IOException;

  /** Term of the entry whose body is there, as far as its header tells; -1: there is none. */
  long term(long index) throws IOException;

  /** Whether the body of this entry is there, as far as its header tells. */
  default boolean holds(long term, long index) throws IOException {
    return term(index) == term;
  }

  /** Drops the bodies of all entries above {@code index}. Before anything is appended. */
  void cutAfter(long index) throws IOException;

  /**
   * Reads a part of a body, without a check of its bytes.
   *
   * @return false if there is no such body, or it ends before
   */
  boolean read(long index, int offset, ByteBuffer into) throws IOException;

  /**
   * Reads parts of bodies, in their order, without a check of their bytes. Neighbours in a file are
   * read at once.
   *
   * @return how many were filled; the next one is missing, or cannot be read
   */
  default int read(List<Part> parts) throws IOException {
    int filled = 0;
    for (Part part : parts) {
      if (!read(part.index(), part.offset(), part.into())) {
        break;
      }
      filled++;
    }
    return filled;
  }

  /**
   * What is left of a body of which only a part is kept, compared with its checksum; null if the
   * body is whole, or there is none, or it is damaged.
   */
  default ByteBuffer readPart(long index) throws IOException {
    return null;
  }

  /** A whole body, compared with its checksum; null if it is missing or damaged. */
  ByteBuffer read(long index) throws IOException;

  /**
   * Links all bodies into a directory that does not exist yet, on the same file system. What is
   * linked never changes.
   *
   * @param lastIndex last entry that the state has applied. Bodies above it may be linked, too, but
   *     do not count.
   */
  void link(Path directory, long lastIndex) throws IOException;

  /**
   * Takes over the bodies that {@link #link} put into a directory, here or on another node. The
   * directory stays as it is. Bodies above its last entry that are here stay, too; all others give
   * way. After a crash in the middle it can be repeated: restore the bodies before the rest of the
   * state.
   */
  void restore(Path directory) throws IOException;

  /**
   * Moves all files into a directory that does not exist yet, by a rename; before {@link #open}.
   */
  default void setAside(Path directory) throws IOException {}
}
