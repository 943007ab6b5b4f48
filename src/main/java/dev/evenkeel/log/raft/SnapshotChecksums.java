package dev.evenkeel.log.raft;

import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotManifest.Entry;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.util.files.ByteRate;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * Makes the manifest of a snapshot, which lies in its directory. Of a file that former snapshots
 * have as well, the same one by another link, it takes the checksum over: each file is read once.
 */
final class SnapshotChecksums {
  static final String FILE = "manifest";

  private static final int READ_BYTES = 1 << 20;

  private final ByteRate pace;

  /**
   * @param pace how fast files may be read
   */
  SnapshotChecksums(ByteRate pace) {
    this.pace = pace;
  }

  /** The manifest in the directory of a snapshot; null if there is none that can be read. */
  static SnapshotManifest read(Path directory) throws IOException {
    try {
      return SnapshotManifest.decode(Files.readAllBytes(directory.resolve(FILE)));
    } catch (NoSuchFileException | MalformedException e) {
      return null;
    }
  }

  /**
   * The manifest of a snapshot as it is on disk now: after a crash, the end of a file may have been
   * cut off that the snapshot and the live bodies share.
   *
   * @param others snapshots on this node, which may vanish meanwhile
   */
  SnapshotManifest describe(SnapshotFiles.Snapshot snapshot, List<SnapshotFiles.Snapshot> others)
      throws IOException {
    Path directory = snapshot.directory();
    SnapshotManifest former = read(directory);
    List<Known> known = new ArrayList<>();
    known.add(new Known(directory, former));
    for (SnapshotFiles.Snapshot other : others) {
      known.add(new Known(other.directory(), read(other.directory())));
    }
    List<Entry> files = new ArrayList<>();
    for (Path path : files(directory)) {
      String name = directory.relativize(path).toString().replace('\\', '/');
      Entry entry = known(known, name, path);
      files.add(entry == null ? new Entry(name, Files.size(path), crc(path)) : entry);
    }
    SnapshotManifest manifest =
        new SnapshotManifest(snapshot.position().getTerm(), snapshot.position().getIndex(), files);
    if (!manifest.equals(former)) {
      DurableFiles.write(directory.resolve(FILE), manifest.encode());
    }
    return manifest;
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths
          .filter(path -> Files.isRegularFile(path))
          .filter(
              path -> !path.getFileName().toString().startsWith(FILE) || !isRoot(path, directory))
          .sorted()
          .toList();
    }
  }

  private static boolean isRoot(Path path, Path directory) {
    return directory.equals(path.getParent());
  }

  private record Known(Path directory, Map<String, Entry> files) {
    Known(Path directory, SnapshotManifest manifest) {
      this(directory, byName(manifest));
    }
  }

  private static Map<String, Entry> byName(SnapshotManifest manifest) {
    Map<String, Entry> byName = new HashMap<>();
    if (manifest != null) {
      manifest.files().forEach(file -> byName.put(file.name(), file));
    }
    return byName;
  }

  private static Entry known(List<Known> known, String name, Path path) throws IOException {
    long length = Files.size(path);
    for (Known each : known) {
      Entry entry = each.files().get(name);
      if (entry != null
          && entry.length() == length
          && isSame(each.directory().resolve(name), path)) {
        return entry;
      }
    }
    return null;
  }

  private static boolean isSame(Path there, Path path) throws IOException {
    try {
      return Files.isSameFile(there, path);
    } catch (NoSuchFileException vanished) {
      return false;
    }
  }

  /** CRC-32C of a whole file. */
  int crc(Path file) throws IOException {
    try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
      CRC32C crc = new CRC32C();
      ByteBuffer part = ByteBuffer.allocate(READ_BYTES);
      while (in.read(part.clear()) > 0) {
        crc.update(part.flip());
        pace.take(part.limit());
      }
      return (int) crc.getValue();
    }
  }
}
