package dev.evenkeel.cli;

import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.util.Daemon;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs commands with {@code sh -c}, a bounded number at once. A command inherits standard output,
 * so it may print any amount, unless the caller captures what it prints.
 */
final class ExecRunner implements AutoCloseable {
  /** A process that ignores SIGTERM is killed after this time. */
  static final long KILL_AFTER_MILLIS = 2_000;

  /** What Java says of the error E2BIG. */
  private static final Pattern TOO_LONG = Pattern.compile("error[=:] ?7\\b");

  /** Shells and Java report the end by signal n as exit status 128 + n. */
  private static final int SIGNALLED = 128;

  /** Holds the command if it is not ASCII. */
  private static final String COMMAND = "EVENKEEL_COMMAND";

  private static final int PIECE_BYTES = 16 << 10;

  private static final int SIGNAL_MAX = 64;

  /**
   * A command.
   *
   * @param environment variables to set; a null value removes the variable
   * @param bytes variables to set whose values may be any bytes, except zero
   * @param timeoutMillis the command is killed and fails after this time; 0: never
   */
  record Call(
      String command,
      Map<String, String> environment,
      Map<String, byte[]> bytes,
      byte[] input,
      long timeoutMillis) {}

  /** A command failed. It has no stack trace. */
  static final class ExecFailed extends Exception {
    private static final long serialVersionUID = 1L;

    ExecFailed(String message) {
      super(message, null, false, false);
    }

    /** What a dead letter says: the class tells nobody anything. */
    @Override
    public String toString() {
      return getMessage();
    }
  }

  private final ExecutorService threads;
  private final ScheduledThreadPoolExecutor timers;
  private final long endMillisMax;
  private final Set<Process> running = ConcurrentHashMap.newKeySet();

  /** The ends of commands that are being stopped, with all their child processes. */
  private final Set<CompletableFuture<?>> ending = ConcurrentHashMap.newKeySet();

  private volatile boolean closed;

  /**
   * @param parallelMax how many commands may run at once
   */
  ExecRunner(int parallelMax) {
    this(
        parallelMax,
        new ScheduledThreadPoolExecutor(1, Daemon.named("evenkeel-exec-timer")),
        2 * KILL_AFTER_MILLIS);
  }

  /**
   * @param timers runs timeouts and kills
   * @param endMillisMax how long to wait for the end of a stopped command
   */
  ExecRunner(int parallelMax, ScheduledThreadPoolExecutor timers, long endMillisMax) {
    this.timers = timers;
    this.endMillisMax = endMillisMax;
    threads = Executors.newFixedThreadPool(parallelMax, Daemon.named("evenkeel-exec"));
    // Else the timeout of each command would stay queued after the command has ended.
    timers.setRemoveOnCancelPolicy(true);
  }

  /**
   * Fails with {@link ExecFailed} unless the command ends with status 0 in time, and with {@link
   * MemberFaultException} if this machine can start no command. Cancelling stops the command and
   * its child processes.
   */
  CompletableFuture<Void> run(Call call) {
    return submit(call, false, output -> null);
  }

  /** As {@link #run}, but completes with the output of the command. */
  CompletableFuture<byte[]> capture(Call call) {
    return submit(call, true, output -> output);
  }

  private <T> CompletableFuture<T> submit(Call call, boolean capture, Function<byte[], T> result) {
    CompletableFuture<T> future = new CompletableFuture<>();
    threads.execute(
        () -> {
          try {
            if (!future.isDone()) {
              future.complete(result.apply(execute(call, capture, future)));
            }
          } catch (Exception e) {
            future.completeExceptionally(e);
          }
        });
    return future;
  }

  /** Stops a command and its child processes: with SIGTERM, then with SIGKILL. */
  private void end(Process process) {
    // The children are listed before the command dies, because later nothing links them to it. The
    // command comes first, because a shell would go on after the end of its child.
    List<ProcessHandle> all =
        Stream.concat(Stream.of(process.toHandle()), process.descendants().toList().stream())
            .toList();
    CompletableFuture<Void> over =
        CompletableFuture.allOf(
                all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
            // A zombie that nobody reaps never exits.
            .completeOnTimeout(null, endMillisMax, TimeUnit.MILLISECONDS);
    ending.add(over);
    over.whenComplete((ended, failure) -> ending.remove(over));
    all.forEach(ProcessHandle::destroy);
    timers.schedule(() -> kill(all), KILL_AFTER_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Kills processes, and children that they started after SIGTERM: a shell may trap the signal. */
  private static void kill(List<ProcessHandle> all) {
    List<ProcessHandle> begun =
        all.stream().filter(ProcessHandle::isAlive).flatMap(ProcessHandle::descendants).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    begun.forEach(ProcessHandle::destroyForcibly);
  }

  private byte[] execute(Call call, boolean capture, CompletableFuture<?> future)
      throws ExecFailed, InterruptedException {
    if (closed) {
      throw new GivenBackException("no command is begun any more");
    }
    Process process;
    try {
      process = builder(call, capture).start();
    } catch (IOException e) {
      String why = "cannot run sh: " + e.getMessage();
      if (TOO_LONG.matcher(why).find()) {
        // The key and the headers of the message are in the environment.
        throw new ExecFailed(why);
      }
      throw new MemberFaultException(why);
    }
    running.add(process);
    if (closed) {
      end(process);
    }
    future.whenComplete(
        (output, failure) -> {
          if (future.isCancelled()) {
            end(process);
          }
        });
    AtomicBoolean late = new AtomicBoolean();
    ScheduledFuture<?> timeout =
        timers.schedule(
            () -> {
              late.set(true);
              end(process);
            },
            call.timeoutMillis() == 0 ? Long.MAX_VALUE : call.timeoutMillis(),
            TimeUnit.MILLISECONDS);
    try {
      return awaitEnd(call, capture, process, late);
    } finally {
      timeout.cancel(false);
      running.remove(process);
    }
  }

  private byte[] awaitEnd(Call call, boolean capture, Process process, AtomicBoolean late)
      throws ExecFailed, InterruptedException {
    byte[] output = new byte[0];
    try {
      write(process, call.input());
      if (capture) {
        output = read(process);
      }
    } catch (IOException e) {
      end(process);
      throw new ExecFailed("'" + call.command() + "': " + e.getMessage());
    }
    int status = process.waitFor();
    // It was stopped, so its exit status means nothing.
    if (late.get()) {
      throw new ExecFailed(
          "'" + call.command() + "' did not end within " + Durations.format(call.timeoutMillis()));
    }
    if (status != 0) {
      throw new ExecFailed(
          "'" + call.command() + "' ended with exit status " + status + meaning(status));
    }
    return output;
  }

  private static String meaning(int status) {
    if (status == 126) {
      return ", which means that a command could not be run";
    }
    if (status == 127) {
      return ", which means that a command was not found";
    }
    boolean signalled = status > SIGNALLED && status <= SIGNALLED + SIGNAL_MAX;
    return signalled ? ", as when signal " + (status - SIGNALLED) + " ends it" : "";
  }

  private static ProcessBuilder builder(Call call, boolean capture) {
    ProcessBuilder builder = new ProcessBuilder().redirectError(Redirect.INHERIT);
    if (!capture) {
      builder.redirectOutput(Redirect.INHERIT);
    }
    Map<String, String> environment = builder.environment();
    // Commands have nothing to show to the cluster.
    environment.keySet().removeAll(CredentialOptions.VARIABLES);
    // They get the key and the headers of their own message only.
    environment.keySet().removeIf(MessageVariables::isOfOneMessage);
    call.environment()
        .forEach(
            (name, value) -> {
              if (value == null) {
                environment.remove(name);
              } else {
                environment.put(name, value);
              }
            });
    StringBuilder script = new StringBuilder();
    call.bytes().forEach((name, value) -> put(environment, script, name, value));
    byte[] command = call.command().getBytes(StandardCharsets.UTF_8);
    if (ascii(command)) {
      script.append(call.command());
    } else {
      put(environment, script, COMMAND, command);
      script.append("set -- \"$%1$s\"; unset %1$s; eval \"shift; $1\"".formatted(COMMAND));
    }
    return builder.command("sh", "-c", script.toString());
  }

  /**
   * Sets a variable. The shell decodes what is not ASCII, because Java would write it to the
   * environment in the locale's encoding. The x keeps line ends at the end of the value. Decoding
   * needs four characters for each byte, and Linux allows 128 KiB for a variable: a long value
   * comes in pieces.
   */
  private static void put(
      Map<String, String> environment, StringBuilder script, String name, byte[] value) {
    if (ascii(value)) {
      environment.put(name, new String(value, StandardCharsets.US_ASCII));
      return;
    }
    StringBuilder pieces = new StringBuilder();
    StringBuilder names = new StringBuilder();
    for (int from = 0, piece = 0; from < value.length; from += PIECE_BYTES, piece++) {
      StringBuilder escaped = new StringBuilder();
      for (int i = from; i < Math.min(value.length, from + PIECE_BYTES); i++) {
        // A variable cannot hold a zero byte.
        if (value[i] != 0) {
          escaped.append(String.format("\\%03o", value[i] & 0xFF));
        }
      }
      // No header has a name of small letters.
      String pieceName = "evenkeel_piece" + piece + "_" + name;
      environment.put(pieceName, escaped.toString());
      pieces.append("${").append(pieceName).append('}');
      names.append(' ').append(pieceName);
    }
    script.append(
        "%1$s=$(printf \"%2$sx\"); export %1$s=\"${%1$s%%x}\"; unset%3$s\n"
            .formatted(name, pieces, names));
  }

  private static boolean ascii(byte[] bytes) {
    for (byte b : bytes) {
      if (b <= 0) {
        return false;
      }
    }
    return true;
  }

  /** Writes the input; a command need not read it. */
  private static void write(Process process, byte[] input) {
    try (OutputStream in = process.getOutputStream()) {
      in.write(input);
    } catch (IOException e) {
      // The command closed its input or has ended: its exit status decides.
      return;
    }
  }

  private static byte[] read(Process process) throws IOException {
    try (InputStream out = process.getInputStream()) {
      byte[] output = out.readNBytes(Limits.STATE_BYTES_MAX + 1);
      if (output.length > Limits.STATE_BYTES_MAX) {
        throw new IOException(
            "it printed more than %s bytes, which is the most that a state may have"
                .formatted(Limits.STATE_BYTES_MAX));
      }
      return output;
    }
  }

  /** How many commands run now. */
  int running() {
    return running.size();
  }

  /** Starts no more commands and stops those that run. Does not wait: see {@link #closed}. */
  @Override
  public void close() {
    closed = true;
    threads.shutdown();
    running.forEach(this::end);
  }

  /** Closes; completes when all commands and their child processes have ended. */
  CompletableFuture<Void> closed() {
    close();
    return CompletableFuture.allOf(ending.toArray(CompletableFuture[]::new));
  }
}
