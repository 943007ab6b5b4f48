package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClassArchiveTest {
  private static final Path JAR = Path.of("/opt/evenkeel/lib/evenkeel.jar");

  private static Path cached(Map<String, String> environment) {
    return ClassArchive.place(JAR, false, "17.0.1", environment);
  }

  @Test
  void itLiesBesideTheJar() {
    assertThat(ClassArchive.place(JAR, true, "17.0.1", Map.of()))
        .isEqualTo(Path.of("/opt/evenkeel/lib/evenkeel-java-17.0.1.jsa"));
  }

  @Test
  void itLiesInTheCacheOfTheUserIfTheDirectoryOfTheJarCannotBeWritten() {
    String name = "evenkeel/evenkeel-development-java-17.0.1.jsa";
    assertThat(cached(Map.of("HOME", "/home/me"))).isEqualTo(Path.of("/home/me/.cache", name));
    assertThat(cached(Map.of("HOME", "/home/me", "XDG_CACHE_HOME", "/c")))
        .isEqualTo(Path.of("/c", name));
    Fails.with(
        CommandFailure.class, () -> cached(Map.of("XDG_CACHE_HOME", "")), "set XDG_CACHE_HOME");
  }
}
