package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Texts that must not change, in {@code src/test/resources/golden}. With {@code
 * -Devenkeel.golden.write=true} they are written down anew.
 */
public final class Golden {
  private Golden() {}

  public static void check(String name, String text) throws IOException {
    Path file = Path.of("src/test/resources/golden", name);
    if (Boolean.getBoolean("evenkeel.golden.write")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    }
    assertThat(text).isEqualTo(Files.readString(file));
  }
}
