package dev.evenkeel.cli;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds the command line that starts this program again, in a process of its own. */
public final class OwnProgram {
  private OwnProgram() {}

  /**
   * The command without the program's own arguments: {@code java -jar} with this jar, or {@code
   * java -cp} if the program does not run from a jar. Only with {@code -jar} does Java open the
   * packages that the manifest names.
   */
  public static List<String> command(List<String> jvmOptions) {
    List<String> command = new ArrayList<>();
    command.add(java().toString());
    command.addAll(jvmOptions);
    String classPath = System.getProperty("java.class.path");
    Path source = source();
    if (Files.isDirectory(source) || classPath.contains(File.pathSeparator)) {
      command.addAll(List.of("-cp", source + File.pathSeparator + classPath, Main.class.getName()));
    } else {
      command.addAll(List.of("-jar", source.toString()));
    }
    return command;
  }

  /** The {@code java} that runs this program. */
  static Path java() {
    return Path.of(System.getProperty("java.home"), "bin", "java");
  }

  /** The jar of this program, or the directory with its classes. */
  static Path source() {
    try {
      return Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
