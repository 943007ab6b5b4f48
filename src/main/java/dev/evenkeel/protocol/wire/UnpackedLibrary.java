package dev.evenkeel.protocol.wire;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Removes the file from which a native library was loaded. The libraries unpack it to the temporary
 * directory and remove it only at an orderly exit, so every program that is killed would leave
 * another one. What is loaded stays in memory without its file.
 */
final class UnpackedLibrary {
  private UnpackedLibrary() {}

  /**
   * Does nothing on systems without {@code /proc}, and if the user has installed the library.
   *
   * @param prefix of the file's name
   */
  static void remove(String prefix) {
    try (BufferedReader maps = new BufferedReader(new FileReader("/proc/self/maps"))) {
      String directory = new File(System.getProperty("java.io.tmpdir")).getCanonicalPath();
      List<String> paths = maps.lines().filter(line -> line.contains("/" + prefix)).toList();
      for (String line : paths) {
        File file = new File(line.substring(line.indexOf('/')));
        if (directory.equals(file.getParent()) && file.getName().startsWith(prefix)) {
          file.delete();
          new File(file + ".lck").delete();
        }
      }
    } catch (IOException | UncheckedIOException e) {
      // The library itself removes the file at exit.
    }
  }
}
