package dev.evenkeel.cli;

import dev.evenkeel.settings.Setting;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** {@code evenkeel serve}. Each of the {@link NodeOptions} is an option. */
@Command(
    name = "serve",
    description = {
      "Runs a node. It prints 'evenkeel ready node=ID http=PORT' when it can serve. Ctrl-C and"
          + " SIGTERM stop it cleanly.",
      "Settings come from the file, the environment (EVENKEEL_HTTP_PORT is --http-port) and the"
          + " command line. A later source overrides an earlier one."
    },
    footer = {
      "  evenkeel serve",
      "  evenkeel serve --port 5801 --http-port 8081 --data /var/lib/evenkeel",
      "  evenkeel serve --conf conf/evenkeel.yaml",
      "  evenkeel serve --node n1 --host 10.0.0.1 \\",
      "      --peers n1@10.0.0.1:5701,n2@10.0.0.2:5701,n3@10.0.0.3:5701 \\",
      "      --tls certs/clients --peer-tls certs/nodes/n1 --users users.json"
    })
final class ServeCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      defaultValue = "${env:EVENKEEL_CONF}",
      description = "YAML file with settings; conf/evenkeel.yaml shows all.")
  private Path conf;

  private ServeCommand() {}

  /** The command with all its options. */
  static CommandSpec spec() {
    CommandSpec spec = CommandSpec.forAnnotatedObject(new ServeCommand());
    NodeOptions.SETTINGS.all().forEach(setting -> spec.addOption(option(setting).build()));
    return spec;
  }

  /** The option for a setting of a node. */
  static OptionSpec.Builder option(Setting<?> setting) {
    String unset = setting.usualText();
    boolean flag = setting.isFlag();
    return OptionSpec.builder(setting.option())
        .type(String.class)
        .arity(flag ? "0..1" : "1")
        .fallbackValue(flag ? "true" : "")
        .paramLabel(setting.label())
        .description(setting.help() + " (default: " + (unset.isEmpty() ? "none" : unset) + ")");
  }

  /** The settings of a node among the options that the user gave: key → text. */
  static Map<String, String> given(ParseResult parsed) {
    Map<String, String> given = new HashMap<>();
    for (Setting<?> setting : NodeOptions.SETTINGS.all()) {
      String text = parsed.matchedOptionValue(setting.option(), null);
      if (text != null) {
        given.put(setting.key(), text);
      }
    }
    return given;
  }

  /**
   * The settings of a node, from all places.
   *
   * @param conf the file; null: none
   * @param given see {@link #given}
   * @throws CommandFailure wrong usage
   */
  static NodeConfig config(Path conf, Map<String, String> given) {
    Map<String, Object> file = conf == null ? Map.of() : ConfigReader.read(conf);
    return NodeConfig.of(ConfigReader.merge(file, String.valueOf(conf), System.getenv(), given));
  }

  @Override
  public Integer call() throws Exception {
    Logging.node();
    NodeConfig config = config(conf, given(spec.commandLine().getParseResult()));
    return runOn(config, (vertx, httpPort, teardown, end) -> {});
  }

  /**
   * Runs the node, and restarts it whenever it must leave the cluster and join again. Prints that
   * it is ready.
   *
   * @param guest what runs on the node, each time that it is ready
   */
  static int runOn(NodeConfig config, ServeRun.Guest guest) throws InterruptedException {
    // Not in a field: commands are created before the log levels are set.
    Logger log = LoggerFactory.getLogger(ServeCommand.class);
    ServeRun.Guest announced = new Announced(config.node(), guest, log);
    while (true) {
      try {
        return new ServeRun(config, announced, new Teardown()).run();
      } catch (ServeRun.Unfit e) {
        log.error("node {} starts anew: {}", config.node(), e.getMessage());
      }
    }
  }

  /** Prints that the node is ready, the first time, before the guest begins. */
  private static final class Announced implements ServeRun.Guest {
    private final String node;
    private final ServeRun.Guest guest;
    private final Logger log;
    private boolean printed;

    Announced(String node, ServeRun.Guest guest, Logger log) {
      this.node = node;
      this.guest = guest;
      this.log = log;
    }

    @Override
    public void ready(
        Vertx vertx, Integer httpPort, Teardown teardown, CompletableFuture<Void> end) {
      if (printed) {
        log.warn("node {} is ready again", node);
      } else {
        printed = true;
        System.out.println(
            "evenkeel ready node=%s http=%s".formatted(node, httpPort == null ? "none" : httpPort));
        System.out.flush();
      }
      guest.ready(vertx, httpPort, teardown, end);
    }

    @Override
    public long endMillisMax() {
      return guest.endMillisMax();
    }
  }
}
