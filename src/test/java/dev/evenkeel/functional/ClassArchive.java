package dev.evenkeel.functional;

import dev.evenkeel.TestPorts;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The classes of the fat jar as the JVM has them once it has read them (application class data
 * sharing): tests start well over a hundred programs, and each saves half of its start by this.
 *
 * <p>It lies beside the jar and is made again for another jar, by one of the JVMs that run tests
 * beside each other; the others wait for it. Whoever cannot make it goes without.
 */
final class ClassArchive {
  private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));
  private static final long START_SECONDS_MAX = 120;

  private ClassArchive() {}

  /** Options of the JVM that let it use the archive; none if it cannot be made. */
  static List<String> options(Path jar) {
    Path archive = jar.resolveSibling("evenkeel.jsa");
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
        make(jar, archive);
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

  /** Runs a node until it can serve, and makes an archive of what its JVM has loaded. */
  private static void make(Path jar, Path archive) throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("evenkeel-archive-");
    Path out = directory.resolve("out");
    Path loaded = directory.resolve("loaded");
    Path made = archive.resolveSibling("evenkeel.jsa.new");
    Process node =
        java(
            out,
            "-XX:DumpLoadedClassList=" + loaded,
            "-jar",
            jar.toString(),
            "serve",
            "--port",
            String.valueOf(TestPorts.take(4)),
            "--http-port",
            String.valueOf(TestPorts.take(1)),
            "--data",
            directory.resolve("data").toString());
    try {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
      while (!Files.readString(out).contains("evenkeel ready")) {
        if (!node.isAlive() || System.nanoTime() > deadline) {
          throw new IOException("the node did not start: " + Files.readString(out));
        }
        node.waitFor(50, TimeUnit.MILLISECONDS);
      }
      node.destroy();
      node.waitFor(START_SECONDS_MAX, TimeUnit.SECONDS);
    } finally {
      node.destroyForcibly().waitFor();
    }
    // Some JVMs of Java 17 crash while they write the classes of lambdas to an archive.
    List<String> classes =
        Files.readAllLines(loaded).stream().filter(line -> !line.startsWith("@")).toList();
    Files.write(loaded, classes);
    Process dump =
        java(
            out,
            "-Xshare:dump",
            "-XX:SharedClassListFile=" + loaded,
            "-XX:SharedArchiveFile=" + made,
            "-cp",
            jar.toString());
    if (!dump.waitFor(START_SECONDS_MAX, TimeUnit.SECONDS)) {
      dump.destroyForcibly().waitFor();
    } else if (dump.exitValue() == 0) {
      Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private static Process java(Path out, String... args) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(JAVA_HOME.resolve("bin/java").toString());
    command.addAll(List.of(args));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(out.toFile()))
        .start();
  }
}
