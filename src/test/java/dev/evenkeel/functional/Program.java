package dev.evenkeel.functional;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs a class of the tests' class path in a process of its own. */
public final class Program {
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
    List<String> command = new ArrayList<>(List.of(Jar.JAVA.toString(), "-Xmx256m"));
    command.addAll(Jar.USUAL_OPTIONS);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), main));
    command.addAll(List.of(args));
    return Jar.unfed(Jar.launch(command, Surroundings.NONE, directory, name));
  }

  /**
   * Runs a class of the tests with the fat jar, and nothing else, on its class path; its standard
   * input is the caller's to feed.
   *
   * @param classes the directory of the tests' classes
   */
  public static Jar.Running startFedWithJar(
      Surroundings surroundings,
      Path directory,
      String name,
      List<String> jvmOptions,
      Path classes,
      String main,
      String... args) {
    List<String> command = new ArrayList<>(surroundings.prefix());
    command.add(Jar.JAVA.toString());
    command.addAll(Jar.ARCHIVE);
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", Jar.JAR + File.pathSeparator + classes, main));
    command.addAll(List.of(args));
    return Jar.launch(command, surroundings, directory, name);
  }
}
