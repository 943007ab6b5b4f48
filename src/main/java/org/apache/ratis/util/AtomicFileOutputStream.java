package org.apache.ratis.util;

import java.io.File;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Takes the place of the class of Ratis 3.3.0 that has this name, and behaves as that does, but for
 * one thing: if a write failed, {@link #close} leaves the former file as it is, and fails. That of
 * Ratis puts the file that could not be written in its place. Writers close what they write to
 * after a failure, too: a vote on a full disk left an empty {@code raft-meta}, so that the node
 * never started again. A vote that was not written is given to nobody, so the former one holds.
 */
public final class AtomicFileOutputStream extends FilterOutputStream {
  public static final String TMP_EXTENSION = ".tmp";

  private final File target;
  private final File temporary;
  private final FileChannel channel;
  private boolean failed;
  private boolean closed;

  /** Where {@code file} is written to before it takes its place. */
  public static File getTemporaryFile(File file) {
    return new File(file.getParentFile(), file.getName() + TMP_EXTENSION);
  }

  public AtomicFileOutputStream(File target) throws IOException {
    this(target, getTemporaryFile(target));
  }

  public AtomicFileOutputStream(File target, File temporary) throws IOException {
    this(target, temporary, open(temporary));
  }

  private AtomicFileOutputStream(File target, File temporary, FileChannel channel) {
    super(Channels.newOutputStream(channel));
    this.target = target.getAbsoluteFile();
    this.temporary = temporary.getAbsoluteFile();
    this.channel = channel;
  }

  private static FileChannel open(File temporary) throws IOException {
    return FileChannel.open(
        temporary.toPath(),
        StandardOpenOption.CREATE,
        StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE);
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    try {
      out.write(bytes, from, length);
    } catch (IOException e) {
      failed = true;
      throw e;
    }
  }

  public boolean isClosed() {
    return closed;
  }

  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    if (failed) {
      abort();
      throw new IOException(temporary + " was not written whole, so " + target + " stays");
    }
    closed = true;
    try (channel) {
      out.flush();
      channel.force(true);
    } catch (IOException e) {
      Files.deleteIfExists(temporary.toPath());
      throw e;
    }
    Files.move(
        temporary.toPath(),
        target.toPath(),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  /** Leaves the former file as it is. */
  public void abort() {
    if (closed) {
      return;
    }
    closed = true;
    try (channel) {
      Files.deleteIfExists(temporary.toPath());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
