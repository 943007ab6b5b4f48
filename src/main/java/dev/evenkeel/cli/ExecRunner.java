package dev.evenkeel.cli;

import dev.evenkeel.model.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/**
 * Runs commands by {@code sh -c} on threads of its own, at most so many at once. What a command
 * prints goes straight to our own output, without passing through us, except where it is asked for.
 */
final class ExecRunner implements AutoCloseable {
  /** Environment of a command; null values are taken out of it. */
  record Call(String command, Map<String, String> environment, byte[] key, byte[] input) {}

  private final ExecutorService threads;

  /**
   * @param parallelMax commands that run at once
   */
  ExecRunner(int parallelMax) {
    threads =
        Executors.newFixedThreadPool(
            parallelMax,
            task -> {
              Thread thread = new Thread(task, "evenkeel-exec");
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Fails with {@link ExecFailed} unless the command ends with status 0. Cancelling ends the
   * command and all that it started.
   */
  CompletableFuture<Void> run(Call call) {
    return submit(call, false, output -> null);
  }

  /** As {@link #run}; completes with what the command printed. */
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

  private static void end(Process process) {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
  }

  private static byte[] execute(Call call, boolean capture, CompletableFuture<?> future)
      throws ExecFailed, InterruptedException {
    Process process;
    try {
      process = builder(call, capture).start();
    } catch (IOException e) {
      throw new ExecFailed("cannot run sh: " + e.getMessage());
    }
    future.whenComplete(
        (output, failure) -> {
          if (failure instanceof CancellationException) {
            end(process);
          }
        });
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
    if (status != 0) {
      throw new ExecFailed(
          "'"
              + call.command()
              + "' ended with exit status "
              + status
              + (status == 127 ? ", which means that a command was not found" : ""));
    }
    return output;
  }

  private static ProcessBuilder builder(Call call, boolean capture) {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", keyScript(call.key()) + call.command())
            .redirectError(Redirect.INHERIT);
    if (!capture) {
      builder.redirectOutput(Redirect.INHERIT);
    }
    Map<String, String> environment = builder.environment();
    environment.remove("EVENKEEL_KEY");
    call.environment()
        .forEach(
            (name, value) -> {
              if (value == null) {
                environment.remove(name);
              } else {
                environment.put(name, value);
              }
            });
    if (call.key() != null && ascii(call.key())) {
      environment.put("EVENKEEL_KEY", new String(call.key(), StandardCharsets.US_ASCII));
    }
    return builder;
  }

  /**
   * Java writes the environment in the locale's encoding, which would spoil a key's bytes; so the
   * shell sets one that is not ASCII. The x keeps line ends at its end.
   */
  private static String keyScript(byte[] key) {
    if (key == null || ascii(key)) {
      return "";
    }
    StringBuilder script = new StringBuilder("EVENKEEL_KEY=$(printf '");
    for (byte b : key) {
      // An environment cannot hold a zero.
      if (b != 0) {
        script.append(String.format("\\%03o", b & 0xFF));
      }
    }
    return script.append("x'); export EVENKEEL_KEY=\"${EVENKEEL_KEY%x}\"\n").toString();
  }

  private static boolean ascii(byte[] bytes) {
    for (byte b : bytes) {
      if (b <= 0) {
        return false;
      }
    }
    return true;
  }

  /** A command need not read what it is given. */
  private static void write(Process process, byte[] input) {
    try (OutputStream in = process.getOutputStream()) {
      in.write(input);
    } catch (IOException e) {
      // It closed its input or has ended: its exit status tells how that is meant.
      return;
    }
  }

  private static byte[] read(Process process) throws IOException {
    try (InputStream out = process.getInputStream()) {
      byte[] output = out.readNBytes(Limits.STATE_BYTES_MAX + 1);
      if (output.length > Limits.STATE_BYTES_MAX) {
        throw new IOException(
            "it printed more than "
                + Limits.STATE_BYTES_MAX
                + " bytes, which is the most that a state may have");
      }
      return output;
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
