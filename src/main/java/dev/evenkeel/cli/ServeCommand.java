package dev.evenkeel.cli;

import dev.evenkeel.settings.Setting;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
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
    for (Setting<?> setting : NodeOptions.SETTINGS.all()) {
      String unset = setting.usualText();
      boolean flag = setting.isFlag();
      spec.addOption(
          OptionSpec.builder(setting.option())
              .type(String.class)
              .arity(flag ? "0..1" : "1")
              .fallbackValue(flag ? "true" : "")
              .paramLabel(setting.label())
              .description(
                  setting.help() + " (default: " + (unset.isEmpty() ? "none" : unset) + ")")
              .build());
    }
    return spec;
  }

  @Override
  public Integer call() throws Exception {
    Logging.node();
    Map<String, String> given = new HashMap<>();
    for (String key : NodeOptions.SETTINGS.byKey().keySet()) {
      String text = spec.commandLine().getParseResult().matchedOptionValue("--" + key, null);
      if (text != null) {
        given.put(key, text);
      }
    }
    Map<String, Object> file = conf == null ? Map.of() : ConfigReader.read(conf);
    NodeConfig config =
        NodeConfig.of(ConfigReader.merge(file, String.valueOf(conf), System.getenv(), given));
    return runOn(config);
  }

  /** Runs the node, and restarts it whenever it must leave the cluster and join again. */
  private static int runOn(NodeConfig config) throws InterruptedException {
    AtomicBoolean printed = new AtomicBoolean();
    // Not in a field: commands are created before the log levels are set.
    Logger log = LoggerFactory.getLogger(ServeCommand.class);
    ServeRun.Guest printReady =
        (vertx, httpPort, teardown, end) -> {
          if (printed.getAndSet(true)) {
            log.warn("node {} is ready again", config.node());
            return;
          }
          System.out.println(
              "evenkeel ready node=%s http=%s"
                  .formatted(config.node(), httpPort == null ? "none" : httpPort));
          System.out.flush();
        };
    while (true) {
      try {
        return new ServeRun(config, printReady, new Teardown()).run();
      } catch (ServeRun.Unfit e) {
        log.error("node {} starts anew: {}", config.node(), e.getMessage());
      }
    }
  }
}
