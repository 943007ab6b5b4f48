package dev.evenkeel.functional;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Runs a class of the tests' class path in a process of its own. */
final class Program {
  private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

  private Program() {}

  /** Parts of the names of jars that a node needs, and a client application does not. */
  private static final List<String> ONLY_A_NODE_NEEDS =
      List.of(
          "ratis",
          "rocksdbjni",
          "picocli",
          "snakeyaml",
          "logback",
          "vertx-web",
          "micrometer",
          "prometheus",
          // Only tests have it; Vert.x would use it.
          "jackson-databind");

  /** The class path of an application that uses the thin jar. */
  static List<String> thinClassPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(path -> ONLY_A_NODE_NEEDS.stream().noneMatch(nameOf(path)::contains))
        .toList();
  }

  private static String nameOf(String path) {
    return Path.of(path).getFileName().toString();
  }

  static Jar.Running start(
      Path directory, String name, List<String> classPath, String main, String... args) {
    List<String> command = new ArrayList<>(List.of(JAVA.toString(), "-Xmx256m"));
    command.addAll(Jar.USUAL_OPTIONS);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), main));
    command.addAll(List.of(args));
    try {
      Files.createDirectories(directory);
      Path out = directory.resolve(name + ".out");
      Path err = directory.resolve(name + ".err");
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      Map<String, String> environment = builder.environment();
      environment.keySet().removeIf(key -> key.startsWith("EVENKEEL_"));
      Process process = builder.start();
      process.getOutputStream().close();
      return new Jar.Running(process, out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
