package dev.evenkeel.storage;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.RocksDB;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads RocksDB's native library and leaves no file behind. RocksDB itself unpacks 17 MB into the
 * temporary directory and removes them only at an orderly exit. After a kill, or an exit by signal
 * with our own status, every start would leave another copy.
 */
final class NativeLibrary {
  private static final Logger LOG = LoggerFactory.getLogger(NativeLibrary.class);

  /** Users set it to tell RocksDB where to unpack; there the library replaces the former one. */
  private static final String DIRECTORY_VARIABLE = "ROCKSDB_SHAREDLIB_DIR";

  private static boolean loaded;

  private NativeLibrary() {}

  /**
   * Loads it unless it is loaded.
   *
   * @throws UncheckedIOException if there is no room for it in the temporary directory
   * @throws RefusedException UNAVAILABLE if it cannot be loaded from there
   */
  static synchronized void load() {
    if (loaded) {
      return;
    }
    try {
      if (System.getenv(DIRECTORY_VARIABLE) == null) {
        unpackAndLoad();
      }
      RocksDB.loadLibrary();
    } catch (LinkageError e) {
      throw unusable(e);
    }
    loaded = true;
  }

  /** The system does not run what is in that directory, or the library is not for this system. */
  static RefusedException unusable(LinkageError failure) {
    String directory = System.getenv(DIRECTORY_VARIABLE);
    return Refusal.UNAVAILABLE.error(
        "RocksDB's library cannot be loaded from %s (%s): if this directory is mounted noexec,"
            + " give the JVM another one by -Djava.io.tmpdir",
        directory == null ? System.getProperty("java.io.tmpdir") : directory, failure.getMessage());
  }

  private static void unpackAndLoad() {
    try {
      Path directory = Files.createTempDirectory("evenkeel-rocksdb-");
      try {
        NativeLibraryLoader.getInstance().loadLibrary(directory.toString());
      } finally {
        remove(directory);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot unpack RocksDB's library into "
              + System.getProperty("java.io.tmpdir")
              + "; give the JVM another directory by -Djava.io.tmpdir",
          e);
    }
  }

  /** What is loaded stays in memory without its file, except where the system holds the file. */
  private static void remove(Path directory) {
    try {
      DurableFiles.deleteTree(directory);
    } catch (IOException e) {
      LOG.debug("{} stays: {}", directory, e.toString());
    }
  }
}
