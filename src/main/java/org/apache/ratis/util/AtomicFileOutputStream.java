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
 * Replaces the class of the same name of Ratis 3.3.0, and differs from it in one thing: if a write
 * failed, {@link #close} keeps the former file and throws.
 *
 * <p>The class of Ratis replaces the former file even then, because writers also close the stream
 * after a failure. On a full disk a vote left an empty {@code raft-meta}, and the node never
 * started again. A vote that could not be written was not given, so the former one is right.
 */
public final class AtomicFileOutputStream extends FilterOutputStream {
  public static final String TMP_EXTENSION = ".tmp";

  private final File target;
  private final File temporary;
  private final FileChannel channel;
  private boolean failed;
  private boolean closed;

  /** The file that is written first and then renamed to {@code file}. */
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
