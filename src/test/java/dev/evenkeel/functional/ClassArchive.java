package dev.evenkeel.functional;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The class archive of the fat jar: tests start well over a hundred programs, and each saves half
 * of its start by it.
 *
 * <p>It is made again for another jar, by one of the JVMs that run tests beside each other; the
 * others wait for it. Whoever cannot make it goes without.
 */
final class ClassArchive {
  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private static final long SECONDS_MAX = 300;

  private ClassArchive() {}

  /** Options of the JVM that let it use the archive; none if it cannot be made. */
  static List<String> options(Path jar) {
    Path archive = dev.evenkeel.cli.ClassArchive.place(jar, Map.of("HOME", "target"));
    Path lock = jar.resolveSibling("evenkeel.jsa.lock");
    try (FileChannel channel =
            FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock locked = channel.lock()) {
      boolean fresh =
          locked.isValid()
              && Files.exists(archive)
              && Files.getLastModifiedTime(archive).compareTo(Files.getLastModifiedTime(jar)) > 0;
      if (!fresh) {
        Files.deleteIfExists(archive);
        make(jar);
      }
    } catch (IOException e) {
      System.err.println("programs start without a class archive: " + e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (!Files.exists(archive)) {
      System.err.println("programs start without a class archive");
      return List.of();
    }
    return List.of("-XX:SharedArchiveFile=" + archive);
  }

  private static void make(Path jar) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(JAVA, "-jar", jar.toString(), "class-archive");
    builder.environment().keySet().removeIf(key -> key.startsWith("EVENKEEL_"));
    Process process =
        builder
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      process.waitFor(SECONDS_MAX, TimeUnit.SECONDS);
    } finally {
      process.destroy();
    }
  }
}
