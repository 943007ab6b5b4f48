package dev.evenkeel.demo;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ConfigMerge;
import dev.evenkeel.cli.DataDirectory;
import dev.evenkeel.cli.Logging;
import dev.evenkeel.cli.NodeConfig;
import dev.evenkeel.cli.ServeRun;
import dev.evenkeel.cli.Teardown;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code evenkeel demo}. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Shows how shards travel: a node, a topic of "
          + DemoRun.SHARDS
          + " shards with a stream of orders, and consumers that come and go.",
      "It starts with "
          + DemoScript.CONSUMERS_AT_START
          + " consumers, each a process of its own that counts the orders of its shards and hands"
          + " the counts on. Every 20 s one more starts, one leaves in good order, or one is killed"
          + " with SIGKILL; there are always from "
          + DemoScript.CONSUMERS_MIN
          + " to "
          + DemoScript.CONSUMERS_MAX
          + ". Each line tells what became of it, as the cluster reports it.",
      "Join in with 'evenkeel consume orders --group demo', or kill one of the processes yourself."
          + " Ctrl-C ends everything and removes the data, unless --data was given."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel demo",
      "  evenkeel demo --port 5801 --http-port 8081       if the ports are in use",
      "  evenkeel demo --every 5s --data ./demo           faster; the data stays"
    })
final class DemoCommand implements Callable<Integer> {
  private static final long EVERY_MILLIS_MIN = 100;

  @Option(
      names = "--port",
      paramLabel = "P",
      defaultValue = "5701",
      description = "Base of the node's three ports (default: ${DEFAULT-VALUE}).")
  private String port;

  @Option(
      names = "--http-port",
      paramLabel = "N",
      defaultValue = "8080",
      description = "Port of the page and the HTTP API; 0: any free one (default: 8080).")
  private String httpPort;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Keep the data here (default: a temporary directory that is removed).")
  private String data;

  @Option(
      names = "--every",
      paramLabel = "TIME",
      defaultValue = "20s",
      description = "Time between two events (default: ${DEFAULT-VALUE}).")
  private String every;

  @Override
  public Integer call() throws Exception {
    long everyMillis = everyMillis();
    Map<String, String> given = new HashMap<>(Map.of("port", port, "http-port", httpPort));
    given.put("data", data == null ? "unused" : data);
    // Checked before a directory is made; a visitor's EVENKEEL_ variables are for nodes of his own.
    ConfigMerge.merge(Map.of(), "", Map.of(), given);
    Logging.client();
    Path temporary = data == null ? Files.createTempDirectory("evenkeel-demo-") : null;
    try {
      if (temporary != null) {
        given.put("data", temporary.toString());
      }
      NodeConfig config = NodeConfig.of(ConfigMerge.merge(Map.of(), "", Map.of(), given));
      Teardown teardown = new Teardown();
      teardown.addBlocking("temporary directory", () -> DataDirectory.remove(temporary));
      DemoRun demo = new DemoRun(config, everyMillis, data == null, System.out);
      return new ServeRun(config, demo::ready, teardown).run();
    } finally {
      DataDirectory.remove(temporary);
    }
  }

  private long everyMillis() throws IOException {
    try {
      long millis = Durations.parseMillis(every);
      if (millis >= EVERY_MILLIS_MIN) {
        return millis;
      }
    } catch (RefusedException | ArithmeticException e) {
      // The line below says what is right.
    }
    throw CommandFailure.usage(
        "--every '" + every + "': write 5s, 20s or 1m, at least " + EVERY_MILLIS_MIN + "ms");
  }
}
