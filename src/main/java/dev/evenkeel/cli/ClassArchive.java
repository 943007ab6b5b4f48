package dev.evenkeel.cli;

import dev.evenkeel.protocol.BuildVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The name and the place of a class archive, which the script {@code evenkeel} looks for. */
public final class ClassArchive {
  private static final Pattern RELEASE = Pattern.compile("(?m)^JAVA_VERSION=\"?([^\"\\r\\n]+)");

  private ClassArchive() {}

  /**
   * The file for this jar and this Java: beside the jar, or in the cache of the user if that
   * directory cannot be written.
   *
   * @throws CommandFailure if neither is possible
   */
  public static Path place(Path jar, Map<String, String> environment) {
    return place(jar, Files.isWritable(jar.getParent()), javaVersion(), environment);
  }

  static Path place(Path jar, boolean writable, String java, Map<String, String> environment) {
    String name = "java-" + java + ".jsa";
    if (writable) {
      return jar.resolveSibling("evenkeel-" + name);
    }
    String home = environment.getOrDefault("HOME", "");
    String cache = environment.getOrDefault("XDG_CACHE_HOME", "");
    if (home.isEmpty() && cache.isEmpty()) {
      throw CommandFailure.failed(
          jar.getParent() + " cannot be written: set XDG_CACHE_HOME to a directory that can");
    }
    return (cache.isEmpty() ? Path.of(home, ".cache") : Path.of(cache))
        .resolve("evenkeel")
        .resolve("evenkeel-" + BuildVersion.number() + "-" + name);
  }

  /** As the script finds it without starting a JVM. */
  private static String javaVersion() {
    try {
      Matcher version =
          RELEASE.matcher(Files.readString(Path.of(System.getProperty("java.home"), "release")));
      if (version.find()) {
        return version.group(1);
      }
    } catch (IOException e) {
      // This Java has no such file: the script asks it for its version then.
      return System.getProperty("java.version");
    }
    return System.getProperty("java.version");
  }
}
