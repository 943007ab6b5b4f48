package dev.evenkeel.util.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Makes directories and files that only their owner may read, whatever the umask is: mode 0700 and
 * 0600. What exists keeps its permissions. On file systems without POSIX permissions the file
 * system's defaults count.
 */
public final class PrivateFiles {
  private static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");

  private PrivateFiles() {}

  /** Makes a directory, and those above it that are missing. */
  public static Path createDirectories(Path directory) throws IOException {
    return Files.createDirectories(directory, attributes(DIRECTORY));
  }

  /** Opens a file; if that creates it, it is private. */
  public static FileChannel open(Path file, OpenOption... options) throws IOException {
    return FileChannel.open(file, Set.of(options), attributes(FILE));
  }

  /** Takes from others what they may do in an existing directory, if this process owns it. */
  public static void close(Path directory) throws IOException {
    if (POSIX && !Files.getPosixFilePermissions(directory).equals(DIRECTORY)) {
      Files.setPosixFilePermissions(directory, DIRECTORY);
    }
  }

  private static FileAttribute<?>[] attributes(Set<PosixFilePermission> permissions) {
    return POSIX
        ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
        : new FileAttribute<?>[0];
  }
}
