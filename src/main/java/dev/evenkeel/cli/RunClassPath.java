package dev.evenkeel.cli;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * The classes that {@code run} can deploy: those of the program, and those of {@code --classpath}.
 * A class that both have is that of the program.
 */
final class RunClassPath {
  /** Most classes that are looked at for a suggestion. */
  private static final int NAMES_MAX = 20_000;

  private static final String CLASS = ".class";

  private final List<Path> entries;
  private final ClassLoader loader;

  private RunClassPath(List<Path> entries) {
    this.entries = entries;
    ClassLoader own = RunClassPath.class.getClassLoader();
    // It stays open: classes are loaded from it until the process ends.
    loader =
        entries.isEmpty()
            ? own
            : new URLClassLoader(
                "classpath", entries.stream().map(RunClassPath::url).toArray(URL[]::new), own);
  }

  /**
   * @param text jars and directories as {@code java -cp} takes them: {@code a.jar:classes:lib/*};
   *     null: none
   * @throws CommandFailure wrong usage, if one of them is not there
   */
  static RunClassPath of(String text) {
    List<Path> entries = new ArrayList<>();
    for (String entry : text == null ? new String[0] : text.split(File.pathSeparator)) {
      if (entry.isEmpty()) {
        continue;
      }
      boolean allJars = entry.equals("*") || entry.endsWith("/*");
      Path path =
          Path.of(
              !allJars ? entry : entry.equals("*") ? "." : entry.substring(0, entry.length() - 1));
      if (!allJars) {
        entries.add(checked(path, entry));
        continue;
      }
      List<Path> jars = jars(path, entry);
      CommandFailure.refuseIf(jars.isEmpty(), "--classpath " + entry + ": no jar is there");
      entries.addAll(jars);
    }
    return new RunClassPath(entries);
  }

  private static Path checked(Path path, String entry) {
    CommandFailure.refuseIf(
        !Files.exists(path), "--classpath " + entry + ": there is no such file or directory");
    if (!Files.isDirectory(path)) {
      try (JarFile jar = new JarFile(path.toFile())) {
        jar.size();
      } catch (IOException e) {
        throw CommandFailure.usage(
            "--classpath " + entry + ": not a jar or a directory: " + e.getMessage());
      }
    }
    return path;
  }

  private static List<Path> jars(Path directory, String entry) {
    CommandFailure.refuseIf(
        !Files.isDirectory(directory), "--classpath " + entry + ": there is no such directory");
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.toString().endsWith(".jar"))
          .sorted()
          .map(Path::normalize)
          .toList();
    } catch (IOException e) {
      throw CommandFailure.failed("--classpath " + entry + ": cannot read it: " + e, e);
    }
  }

  private static URL url(Path entry) {
    try {
      return entry.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(e);
    }
  }

  ClassLoader loader() {
    return loader;
  }

  /**
   * Names of the classes of {@code --classpath}, without nested ones; {@value #NAMES_MAX} at most.
   */
  List<String> names() {
    List<String> names = new ArrayList<>();
    for (Path entry : entries) {
      try {
        if (Files.isDirectory(entry)) {
          try (Stream<Path> files = Files.walk(entry)) {
            add(files.map(file -> entry.relativize(file).toString()), names);
          }
        } else {
          try (JarFile jar = new JarFile(entry.toFile())) {
            add(jar.stream().map(each -> each.getName()), names);
          }
        }
      } catch (IOException e) {
        // Only a suggestion depends on it.
        continue;
      }
    }
    return names;
  }

  private static void add(Stream<String> files, List<String> names) {
    files
        .filter(file -> file.endsWith(CLASS) && file.indexOf('$') < 0 && file.indexOf('-') < 0)
        .map(file -> file.substring(0, file.length() - CLASS.length()))
        .map(file -> file.replace('/', '.').replace(File.separatorChar, '.'))
        .limit(NAMES_MAX - names.size())
        .forEach(names::add);
  }
}
