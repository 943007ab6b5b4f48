package dev.evenkeel.util.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFilesTest {
  @TempDir private Path directory;

  @BeforeEach
  void needsPermissions() {
    Assumptions.assumeTrue(
        FileSystems.getDefault().supportedFileAttributeViews().contains("posix"),
        "the file system has no POSIX permissions");
  }

  @Test
  void onlyTheOwnerMayReadWhatIsMade() throws IOException {
    Path made = PrivateFiles.createDirectories(directory.resolve("a/b"));
    Path file = made.resolve("file");
    PrivateFiles.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
    assertThat(mode(directory.resolve("a"))).isEqualTo("rwx------");
    assertThat(mode(made)).isEqualTo("rwx------");
    assertThat(mode(file)).isEqualTo("rw-------");
    DurableFiles.write(made.resolve("durable"), new byte[] {1});
    assertThat(mode(made.resolve("durable"))).isEqualTo("rw-------");
  }

  @Test
  void whatExistsKeepsItsPermissionsUntilItIsClosed() throws IOException {
    Path there =
        Files.createDirectory(
            directory.resolve("there"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
    PrivateFiles.createDirectories(there);
    assertThat(mode(there)).isEqualTo("rwxr-x---");
    PrivateFiles.close(there);
    assertThat(mode(there)).isEqualTo("rwx------");
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
