package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestUsers;
import dev.evenkeel.Unchecked;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs the fat jar as users do: in processes of its own, by {@code java -jar}. */
public final class Jar {
  static final Path JAR =
      Path.of(System.getProperty("evenkeel.jar", "target/evenkeel.jar")).toAbsolutePath();

  /** On a machine that is busy with other things every thread may have to wait for long. */
  private static final boolean BUSY_MACHINE = Boolean.getBoolean("evenkeel.busyMachine");

  /** What Vert.x says of a thread that does not come back to it. */
  private static final Pattern BLOCKED = Pattern.compile("has been blocked for (\\d+) ms");

  /** Tests run beside each other: a loop that only has to wait for a processor is told of, too. */
  private static final long BLOCKED_MILLIS_MAX = 5_000;

  /** Many processes that start on few processors hold each other up for longer than that. */
  private static final long BLOCKED_MILLIS_MAX_IN_A_CROWD = 15_000;

  /** A loop may wait so many times longer where there is so much more to do than processors do. */
  private static final double CROWDING_MAX = 4;

  /** They do not run long enough to be worth compiling well, and leave time to the others. */
  static final List<String> CROWD_OPTIONS =
      List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  /**
   * Most do not run long enough to be worth compiling well either; the long form of the tests runs
   * them as users do.
   */
  public static final List<String> USUAL_OPTIONS =
      Integer.getInteger("evenkeel.rounds", 1) > 1
          ? List.of()
          : List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  static final List<String> ARCHIVE = ClassArchive.options(JAR);

  static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

  private Jar() {}

  /** What a finished command left. */
  public record Result(int status, String out, String err) {
    public List<String> lines() {
      return out.lines().toList();
    }

    @Override
    public String toString() {
      return "status " + status + "\nstdout: " + out + "\nstderr: " + err;
    }
  }

  /** A command under way, with its output in files. */
  public static final class Running implements AutoCloseable {
    public final Process process;
    public final Path out;
    public final Path err;
    private boolean mayPause;
    private long blockedMillisMax = BLOCKED_MILLIS_MAX;

    Running(Process process, Path out, Path err) {
      this.process = process;
      this.out = out;
      this.err = err;
    }

    /**
     * It is stopped for a while from outside, which looks like a blocked event loop from inside.
     */
    public Running mayPause() {
      mayPause = true;
      return this;
    }

    /** It is one of many. */
    public Running inCrowd() {
      blockedMillisMax = BLOCKED_MILLIS_MAX_IN_A_CROWD;
      return this;
    }

    public String out() {
      return read(out);
    }

    public String err() {
      return read(err);
    }

    /**
     * What it told on standard error but for what Vert.x told of threads, which is judged apart.
     */
    private String told() {
      StringBuilder told = new StringBuilder();
      boolean ofThread = false;
      for (String line : err().lines().toList()) {
        boolean trace = line.startsWith("\tat ") || line.startsWith("io.vertx.core.VertxException");
        ofThread = BLOCKED.matcher(line).find() || ofThread && trace;
        if (!ofThread) {
          told.append(line).append('\n');
        }
      }
      return told.toString();
    }

    /** No program may hold up an event loop; Vert.x says so after two seconds, again and again. */
    private void assertLoopsFree() {
      if (!mayPause && !BUSY_MACHINE) {
        err()
            .lines()
            .filter(this::tellsOfBlockedLoop)
            .findFirst()
            .ifPresent(
                line -> {
                  throw new AssertionError(
                      err.getFileName() + " tells of a blocked loop: " + err());
                });
      }
    }

    private boolean tellsOfBlockedLoop(String line) {
      Matcher matcher = BLOCKED.matcher(line);
      return matcher.find() && Long.parseLong(matcher.group(1)) > blockedMillisMax * crowding();
    }

    /** SIGKILL, and waits for the end. */
    public void kill() {
      process.destroyForcibly();
      await();
    }

    /** SIGTERM, and waits for the end. */
    public Result stop() {
      process.destroy();
      return await();
    }

    /** SIGTERM, on which it ends without an error. */
    public void stopWell() {
      Result ended = stop();
      assertThat(ended.status()).as(ended.err()).isZero();
    }

    /** Waits for the end of a producer that has got an acknowledgement for each of its lines. */
    public void awaitAcked(long lines) {
      Result produced = await();
      assertThat(produced.err().strip())
          .as(produced.toString())
          .endsWith("acked " + lines + " of " + lines);
      assertThat(produced.status()).isZero();
    }

    public Result await() {
      try {
        if (!process.waitFor(4, TimeUnit.MINUTES)) {
          process.destroyForcibly();
          throw new AssertionError("still running after 4 minutes: " + process.info() + err());
        }
        assertLoopsFree();
        return new Result(process.exitValue(), out(), told());
      } catch (InterruptedException e) {
        process.destroyForcibly();
        throw new AssertionError(e);
      }
    }

    @Override
    public void close() {
      if (process.isAlive()) {
        kill();
      }
    }
  }

  /** For how many a processor was meant to be of late; 1 to 4. */
  public static double crowding() {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    double each = load / Runtime.getRuntime().availableProcessors();
    return Math.max(1, Math.min(CROWDING_MAX, each));
  }

  static Running start(Path directory, String name, String... args) {
    return unfed(startFed(directory, name, args));
  }

  /** Starts a command in a JVM with more options. */
  static Running startWith(Path directory, String name, List<String> jvmOptions, String... args) {
    return unfed(start(directory, name, jvmOptions, args));
  }

  /** The same, with a standard input that is the caller's to feed and to close. */
  static Running startFedWith(
      Path directory, String name, List<String> jvmOptions, String... args) {
    return start(directory, name, jvmOptions, args);
  }

  static Running unfed(Running running) {
    Unchecked.run(() -> running.process.getOutputStream().close());
    return running;
  }

  /** Starts one of many processes that run at a time. */
  static Running startInCrowd(Path directory, String name, String... args) {
    return unfed(startFedInCrowd(directory, name, args));
  }

  /**
   * Starts one of many processes that run at a time; its standard input is the caller's to feed.
   */
  static Running startFedInCrowd(Path directory, String name, String... args) {
    return start(directory, name, CROWD_OPTIONS, args).inCrowd();
  }

  /** Starts a command whose standard input is the caller's to feed and to close. */
  static Running startFed(Path directory, String name, String... args) {
    return start(directory, name, USUAL_OPTIONS, args);
  }

  private static Running start(
      Path directory, String name, List<String> jvmOptions, String... args) {
    return startIn(Surroundings.NONE, directory, name, jvmOptions, args);
  }

  /** Starts a command in surroundings of its own; its standard input is the caller's to feed. */
  public static Running startIn(
      Surroundings surroundings,
      Path directory,
      String name,
      List<String> jvmOptions,
      String... args) {
    return startJar(JAR, surroundings, directory, name, jvmOptions, args);
  }

  /** The same with another build. */
  static Running startJar(
      Path jar,
      Surroundings surroundings,
      Path directory,
      String name,
      List<String> jvmOptions,
      String... args) {
    List<String> command = new ArrayList<>(surroundings.prefix());
    command.add(JAVA.toString());
    command.add("-Devenkeel.log.blocked=WARN");
    command.addAll(jar.equals(JAR) ? ARCHIVE : List.of());
    command.addAll(jvmOptions);
    command.add("-jar");
    command.add(jar.toString());
    command.addAll(List.of(TestUsers.arguments(args)));
    return launch(command, surroundings, directory, name);
  }

  /** Runs a command with its output in files of that name. */
  static Running launch(
      List<String> command, Surroundings surroundings, Path directory, String name) {
    return Unchecked.get(
        () -> {
          Files.createDirectories(directory);
          Path out = directory.resolve(name + ".out");
          Path err = directory.resolve(name + ".err");
          ProcessBuilder builder =
              new ProcessBuilder(command)
                  .directory(directory.toFile())
                  .redirectOutput(out.toFile())
                  .redirectError(err.toFile());
          builder.environment().keySet().removeIf(key -> key.startsWith("EVENKEEL_"));
          builder.environment().putAll(TestUsers.variables());
          builder.environment().putAll(surroundings.variables());
          return ProcessesOfTest.add(new Running(builder.start(), out, err));
        });
  }

  static Result run(Path directory, String... args) {
    try (Running running = start(directory, "command-" + System.nanoTime(), args)) {
      return running.await();
    }
  }

  private static String read(Path file) {
    return Unchecked.get(
        () -> Files.exists(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "");
  }
}
