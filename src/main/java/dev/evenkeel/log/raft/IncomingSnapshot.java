package dev.evenkeel.log.raft;

import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotManifest.Entry;
import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * The directory in which a snapshot of another node arrives. It survives a restart:
 *
 * <pre>
 * manifest   the files of the snapshot
 * whole/     files that have come, match their checksum, and are on disk
 * parts/     files of which the beginning has come
 * </pre>
 *
 * One thread at a time may use it.
 */
final class IncomingSnapshot {
  private static final int READ_BYTES = 1 << 20;

  private final Path directory;
  private final Path whole;
  private final Path parts;

  IncomingSnapshot(Path directory) {
    this.directory = directory;
    whole = directory.resolve("whole");
    parts = directory.resolve("parts");
  }

  /** The snapshot that is on its way, or null. */
  SnapshotManifest manifest() throws IOException {
    return SnapshotChecksums.read(directory);
  }

  /**
   * Goes on with this snapshot. Of another one that was on its way, files that are in both stay.
   */
  void begin(SnapshotManifest manifest) throws IOException {
    SnapshotManifest former = manifest();
    Set<String> kept = new HashSet<>();
    if (former != null) {
      Set<Entry> wanted = new HashSet<>(manifest.files());
      former.files().stream().filter(wanted::contains).map(Entry::name).forEach(kept::add);
    }
    deleteBut(whole, kept);
    deleteBut(parts, kept);
    PrivateFiles.createDirectories(whole);
    PrivateFiles.createDirectories(parts);
    DurableFiles.write(directory.resolve(SnapshotChecksums.FILE), manifest.encode());
  }

  private static void deleteBut(Path root, Set<String> kept) throws IOException {
    if (!Files.isDirectory(root)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.filter(each -> Files.isRegularFile(each)).toList()) {
        if (!kept.contains(root.relativize(path).toString().replace('\\', '/'))) {
          Files.delete(path);
        }
      }
    }
  }

  boolean has(Entry file) {
    return Files.exists(whole.resolve(file.name()));
  }

  /** How many bytes of a file are here. */
  long bytesHere(Entry file) throws IOException {
    Path part = parts.resolve(file.name());
    return has(file) ? file.length() : Files.exists(part) ? Files.size(part) : 0;
  }

  /** Takes a file over that is on this disk already, and whose bytes were compared. */
  void link(Entry file, Path from) throws IOException {
    Path target = whole.resolve(file.name());
    PrivateFiles.createDirectories(target.getParent());
    DurableFiles.link(from, target);
    Files.deleteIfExists(parts.resolve(file.name()));
  }

  /** Opens a file behind what has come of it. */
  Part open(Entry file) throws IOException {
    Path path = parts.resolve(file.name());
    PrivateFiles.createDirectories(path.getParent());
    return new Part(file, path);
  }

  /** A file that arrives. */
  final class Part implements Closeable {
    private final Entry file;
    private final Path path;
    private final FileChannel channel;
    private final CRC32C crc = new CRC32C();
    private long length;

    private Part(Entry file, Path path) throws IOException {
      this.file = file;
      this.path = path;
      channel =
          PrivateFiles.open(
              path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      try {
        if (channel.size() > file.length()) {
          channel.truncate(0);
        }
        ByteBuffer some = ByteBuffer.allocate(READ_BYTES);
        while (channel.read(some.clear()) > 0) {
          crc.update(some.flip());
          length += some.limit();
        }
      } catch (IOException e) {
        channel.close();
        throw e;
      }
    }

    /** How many of its bytes have come. */
    long length() {
      return length;
    }

    void append(ByteBuffer bytes) throws IOException {
      crc.update(bytes.duplicate());
      length += bytes.remaining();
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }

    /**
     * All bytes have come: if they match the checksum, the file counts as whole.
     *
     * @return false if not; then nothing is left of it
     */
    boolean finish() throws IOException {
      if ((int) crc.getValue() != file.crc()) {
        channel.close();
        Files.delete(path);
        return false;
      }
      channel.force(true);
      channel.close();
      Path target = whole.resolve(file.name());
      PrivateFiles.createDirectories(target.getParent());
      Files.move(path, target, StandardCopyOption.ATOMIC_MOVE);
      return true;
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /** Completes the snapshot, all of whose files are whole. It survives a crash from now on. */
  void complete() throws IOException {
    SnapshotManifest manifest = manifest();
    DurableFiles.write(whole.resolve(SnapshotChecksums.FILE), manifest.encode());
    try (Stream<Path> paths = Files.walk(whole)) {
      for (Path each : paths.filter(path -> Files.isDirectory(path)).toList()) {
        DurableFiles.force(each);
      }
    }
    DurableFiles.force(directory);
  }

  /** A complete snapshot. */
  Path whole() {
    return whole;
  }

  /** Deletes everything. */
  void delete() throws IOException {
    DurableFiles.deleteTree(directory);
  }
}
