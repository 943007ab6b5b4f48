package dev.evenkeel.demo;

import dev.evenkeel.cli.ConfigReader;
import dev.evenkeel.cli.DataDirectory;
import dev.evenkeel.cli.Logging;
import dev.evenkeel.cli.NodeConfig;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.cli.ServeRun;
import dev.evenkeel.cli.Subcommands;
import dev.evenkeel.cli.Teardown;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
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
public final class DemoCommand implements Callable<Integer>, Subcommands {
  private static final long EVERY_MILLIS_MIN = 100;
  private static final long EVERY_MILLIS_MAX = 365L * 86_400_000;

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
      converter = OptionFormats.Time.class,
      defaultValue = "20s",
      description = "Time between two events (default: ${DEFAULT-VALUE}).")
  private long everyMillis;

  @Override
  public List<CommandLine> commands() {
    return List.of(new CommandLine(new DemoCommand()), new CommandLine(new DemoMemberCommand()));
  }

  @Override
  public Integer call() throws Exception {
    OptionFormats.timeRange("--every", everyMillis, EVERY_MILLIS_MIN, EVERY_MILLIS_MAX);
    Map<String, String> given = new HashMap<>(Map.of("port", port, "http-port", httpPort));
    given.put("data", data == null ? "unused" : data);
    // Checked before a directory is made; a visitor's EVENKEEL_ variables are for nodes of his own.
    ConfigReader.merge(Map.of(), "", Map.of(), given);
    Logging.client();
    Path temporary = data == null ? Files.createTempDirectory("evenkeel-demo-") : null;
    try {
      if (temporary != null) {
        given.put("data", temporary.toString());
      }
      NodeConfig config = NodeConfig.of(ConfigReader.merge(Map.of(), "", Map.of(), given));
      Teardown teardown = new Teardown();
      teardown.addBlocking("temporary directory", () -> DataDirectory.remove(temporary));
      DemoRun demo = new DemoRun(config, everyMillis, data == null, System.out);
      return new ServeRun(config, demo::ready, teardown).run();
    } finally {
      DataDirectory.remove(temporary);
    }
  }
}
