package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Texts and files that must not change, in {@code src/test/resources/golden}. With {@code
 * -Devenkeel.golden.write=true} they are written down anew.
 */
public final class Golden {
  private Golden() {}

  /** Where the file of that name lies, or a directory of files. */
  public static Path path(String name) {
    return Path.of("src/test/resources/golden", name);
  }

  public static void check(String name, String text) throws IOException {
    write(name, text.getBytes(StandardCharsets.UTF_8));
    assertThat(text).isEqualTo(Files.readString(path(name)));
  }

  /** The same for the bytes of a file. */
  public static void checkBytes(String name, Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    write(name, bytes);
    assertThat(bytes).as(name).isEqualTo(Files.readAllBytes(path(name)));
  }

  private static void write(String name, byte[] bytes) throws IOException {
    if (Boolean.getBoolean("evenkeel.golden.write")) {
      Files.createDirectories(path(name).getParent());
      Files.write(path(name), bytes);
    }
  }
}
