package dev.evenkeel.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import java.util.LinkedHashMap;

/**
 * Files that are open for readers: at most so many, and for a moment one more for each reader.
 * Opening one closes the one that was not read for longest. Any thread may call any method.
 */
final class FilePool {
  private final int openMax;

  /** The one that was not read for longest comes first. */
  private final LinkedHashMap<Path, Opened> open = new LinkedHashMap<>(16, 0.75f, true);

  private static final class Opened {
    final FileChannel channel;
    int readers;

    Opened(FileChannel channel) {
      this.channel = channel;
    }
  }

  FilePool(int openMax) {
    this.openMax = openMax;
  }

  /**
   * Reads from a file that does not change behind {@code position}.
   *
   * @return how many bytes; -1 at the end of the file
   */
  int read(Path path, ByteBuffer into, long position) throws IOException {
    while (true) {
      Opened file = take(path);
      try {
        return file.channel.read(into, position);
      } catch (ClosedByInterruptException interrupted) {
        throw interrupted;
      } catch (ClosedChannelException closedMeanwhile) {
        // Another reader was interrupted, which closed the file for all; or it was deleted.
        continue;
      } finally {
        giveBack(file);
      }
    }
  }

  private synchronized Opened take(Path path) throws IOException {
    Opened file = open.get(path);
    if (file == null || !file.channel.isOpen()) {
      file = new Opened(FileChannel.open(path, StandardOpenOption.READ));
      open.put(path, file);
    }
    file.readers++;
    closeUnused();
    return file;
  }

  private synchronized void giveBack(Opened file) throws IOException {
    file.readers--;
    closeUnused();
  }

  private void closeUnused() throws IOException {
    Iterator<Opened> files = open.values().iterator();
    for (int left = open.size(); left > openMax && files.hasNext(); ) {
      Opened file = files.next();
      if (file.readers == 0) {
        file.channel.close();
        files.remove();
        left--;
      }
    }
  }

  /** Closes a file; the next reader opens it again, if it is still there. */
  synchronized void close(Path path) throws IOException {
    Opened file = open.remove(path);
    if (file != null) {
      file.channel.close();
    }
  }

  synchronized int size() {
    return open.size();
  }
}
