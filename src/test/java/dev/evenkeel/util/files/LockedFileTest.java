package dev.evenkeel.util.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LockedFileTest {
  @TempDir Path directory;

  /** Another process, which says whether it gets the lock. */
  static final class Other {
    public static void main(String[] args) throws IOException {
      try (LockedFile file = LockedFile.open(Path.of(args[0]))) {
        System.out.print(file == null ? LockedFile.holder(Path.of(args[0])) : "locked");
      }
    }
  }

  private static Path classes(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static String other(Path file) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                classes(LockedFile.class) + File.pathSeparator + classes(Other.class),
                Other.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return said;
  }

  @Test
  void anAttemptInTheSameProcessDoesNotOpenTheFileToOthers() throws Exception {
    Path file = directory.resolve("lock");
    try (LockedFile locked = LockedFile.open(file)) {
      assertThat(locked).isNotNull();
      assertThat(
              LockedFile.open(
                  directory.resolve("..").resolve(directory.getFileName()).resolve("lock")))
          .isNull();
      String own = "pid " + ProcessHandle.current().pid() + " since ";
      assertThat(LockedFile.holder(file)).startsWith(own);
      assertThat(other(file)).startsWith(own);
    }
    assertThat(other(file)).isEqualTo("locked");
    try (LockedFile again = LockedFile.open(file)) {
      assertThat(again).isNotNull();
    }
  }
}
