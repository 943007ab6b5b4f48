package dev.evenkeel.demo;

import dev.evenkeel.cli.CommandOptions;
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
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code evenkeel demo}. */
@Command(
    name = "demo",
    description = {
      "Shows how shards move: a node, a topic of "
          + DemoRun.SHARDS
          + " shards with a stream of orders, and consumers that come and go.",
      "It starts with "
          + DemoScript.CONSUMERS_AT_START
          + " consumers. Each is a process of its own that counts the orders of its shards and"
          + " passes the counts on. Every 20 s one more starts, one leaves cleanly, or one is"
          + " killed with SIGKILL; there are always "
          + DemoScript.CONSUMERS_MIN
          + " to "
          + DemoScript.CONSUMERS_MAX
          + ". Each line shows the result, as the cluster reports it.",
      "Join in with 'evenkeel consume orders --group demo', or kill one of the processes yourself."
          + " Ctrl-C ends everything and removes the data, unless --data was given."
    },
    footer = {
      "  evenkeel demo",
      "  evenkeel demo --port 5801 --http-port 8081       if the ports are in use",
      "  evenkeel demo --every 5s --data ./demo           faster; the data stays"
    })
public final class DemoCommand implements Callable<Integer>, Subcommands {
  private static final long EVERY_MILLIS_MIN = 100;
  private static final long EVERY_MILLIS_MAX = 365L * 86_400_000;

  private final CommandOptions flags = new CommandOptions();

  private final Supplier<String> port =
      flags.text("--port", "P", "5701", "Base of the node's four ports");

  private final Supplier<String> httpPort =
      flags.text(
          "--http-port", "N", "8080", "Port of the web page and the HTTP API; 0: any free port");

  private final Supplier<String> data =
      flags.text(
          "--data",
          "DIR",
          "Directory for the data (default: a temporary directory that is removed).");

  private final Supplier<Long> everyMillis =
      flags.time("--every", "20s", "Time between two events");

  @Override
  public List<CommandLine> commands() {
    DemoCommand demo = new DemoCommand();
    return List.of(
        demo.flags.addTo(new CommandLine(demo)), new CommandLine(new DemoMemberCommand()));
  }

  @Override
  public Integer call() throws Exception {
    Logging.client();
    OptionFormats.timeRange("--every", everyMillis.get(), EVERY_MILLIS_MIN, EVERY_MILLIS_MAX);
    Map<String, String> given =
        new HashMap<>(Map.of("port", port.get(), "http-port", httpPort.get()));
    given.put("data", data.get() == null ? "unused" : data.get());
    // Checked before a directory is created. The EVENKEEL_ variables of the user are for other
    // nodes.
    ConfigReader.merge(Map.of(), "", Map.of(), given);
    Path temporary = data.get() == null ? Files.createTempDirectory("evenkeel-demo-") : null;
    try {
      if (temporary != null) {
        given.put("data", temporary.toString());
      }
      NodeConfig config = NodeConfig.of(ConfigReader.merge(Map.of(), "", Map.of(), given));
      Teardown teardown = new Teardown();
      teardown.addBlocking("temporary directory", () -> DataDirectory.remove(temporary));
      DemoRun demo = new DemoRun(config, everyMillis.get(), data.get() == null, System.out);
      return new ServeRun(config, demo::ready, teardown).run();
    } finally {
      DataDirectory.remove(temporary);
    }
  }
}
