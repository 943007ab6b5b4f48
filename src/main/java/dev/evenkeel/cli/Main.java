package dev.evenkeel.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The entry point of the jar: the command {@code evenkeel}. */
@Command(
    name = "evenkeel",
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = "A clustered, durable, sharded message queue that keeps every consumer level.",
    footer = {
      "",
      "Examples (evenkeel stands for: java -jar evenkeel.jar):",
      "  evenkeel demo                              a node with consumers that come and go",
      "  evenkeel serve                             a node on this machine",
      "  evenkeel topic create orders --shards 4    a topic",
      "  seq 1 1000 | evenkeel produce orders       a thousand messages, one a line",
      "  evenkeel consume orders --group g          print them; Ctrl-C ends",
      "  evenkeel group describe g                  who owns what, and how far it is",
      "",
      "evenkeel COMMAND --help explains each command with examples.",
      "Exit status: 0 done, 1 failed, 2 wrong usage."
    })
public final class Main implements Runnable {
  /** The order of commands in the help. */
  private static final List<String> ORDER =
      List.of(
          ("serve demo demo-member produce consume run topic delayed group quota cluster certs user"
                  + " bench class-archive completion")
              .split(" "));

  @Spec private CommandSpec spec;

  @Option(
      names = "--verbose",
      scope = CommandLine.ScopeType.INHERIT,
      description = "Log more, and show stack traces of errors.")
  private boolean verbose;

  private Main() {}

  public static void main(String[] args) {
    // Netty then makes large arrays without zeroing them first.
    System.getProperties().putIfAbsent("io.netty.tryReflectionSetAccessible", "true");
    // In any locale: what is printed is UTF-8, as what is read.
    System.setOut(utf8(FileDescriptor.out));
    System.setErr(utf8(FileDescriptor.err));
    int status;
    try {
      String[] given = Arguments.of(args);
      Arguments.checkVariables(System.getenv());
      status =
          commandLine(given)
              .setOut(new PrintWriter(System.out, true))
              .setErr(new PrintWriter(System.err, true))
              .execute(given);
    } catch (CommandFailure e) {
      System.err.println("evenkeel: " + e.getMessage());
      status = e.exitStatus();
    } catch (LinkageError e) {
      // Such as a native library of compression.
      System.err.printf(
          "evenkeel: %s: if %s is mounted noexec, give the JVM another directory by"
              + " -Djava.io.tmpdir%n",
          Terminal.visible(String.valueOf(e)), System.getProperty("java.io.tmpdir"));
      if (List.of(args).contains("--verbose")) {
        e.printStackTrace();
      }
      status = ExitStatus.FAILED;
    }
    HttpThreads.end();
    System.exit(status);
  }

  private static PrintStream utf8(FileDescriptor to) {
    return new PrintStream(new FileOutputStream(to), true, StandardCharsets.UTF_8);
  }

  /** The command line with all commands; its {@code execute} returns the exit status. */
  static CommandLine commandLine() {
    List<CommandLine> commands = new ArrayList<>();
    ORDER.stream().map(Main::own).filter(Objects::nonNull).forEach(commands::add);
    ServiceLoader.load(Subcommands.class).forEach(more -> commands.addAll(more.commands()));
    commands.sort(Comparator.comparingInt(command -> ORDER.indexOf(command.getCommandName())));
    return with(commands);
  }

  /**
   * The command line for these arguments: with the command that they name only, or else with all.
   * The model of all commands takes a quarter of a second to make.
   */
  static CommandLine commandLine(String[] args) {
    for (String arg : args) {
      if (!arg.startsWith("-")) {
        // The script of "completion" is about all commands.
        CommandLine named = arg.equals("completion") ? null : own(arg);
        return named == null ? commandLine() : with(List.of(named));
      }
    }
    return commandLine();
  }

  /** A command of this package; null if it has none of that name. */
  private static CommandLine own(String name) {
    return switch (name) {
      case "serve" -> new CommandLine(ServeCommand.spec());
      case "produce" -> ProduceCommand.line();
      case "consume" -> ConsumeCommand.line();
      case "run" -> new CommandLine(RunCommand.spec());
      case "topic" -> new CommandLine(new TopicCommand());
      case "delayed" -> new CommandLine(new DelayedCommand());
      case "group" -> new CommandLine(new GroupCommand());
      case "quota" -> new CommandLine(new QuotaCommand());
      case "cluster" -> new CommandLine(new ClusterCommand());
      case "certs" -> new CommandLine(new CertsCommand());
      case "user" -> new CommandLine(new UserCommand());
      case "class-archive" -> new CommandLine(new ClassArchiveCommand());
      case "completion" -> new CommandLine(new CompletionCommand());
      default -> null;
    };
  }

  private static CommandLine with(List<CommandLine> commands) {
    Main main = new Main();
    CommandLine line = new CommandLine(main);
    commands.forEach(line::addSubcommand);
    addHelp(line);
    line.setExecutionStrategy(
        parsed -> {
          Logging.verbose(main.verbose);
          return new CommandLine.RunLast().execute(parsed);
        });
    CommandErrors errors = new CommandErrors(() -> main.verbose);
    line.setParameterExceptionHandler(errors);
    line.setExecutionExceptionHandler(errors);
    // An argument is what it says, and no file is read in the character set of the platform.
    line.setExpandAtFiles(false);
    line.setUsageHelpAutoWidth(false);
    line.setUsageHelpWidth(100);
    line.setPosixClusteredShortOptionsAllowed(false);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    return line;
  }

  /**
   * Adds --help and --version to a command and its subcommands, and a heading to examples. Methods
   * with parameters that are no mixins have the options by their annotation: else picocli would
   * mistake them for the first parameters.
   */
  private static void addHelp(CommandLine line) {
    if (!line.getCommandSpec().mixinStandardHelpOptions()) {
      line.getCommandSpec().mixinStandardHelpOptions(true);
    }
    UsageMessageSpec usage = line.getCommandSpec().usageMessage();
    List<String> footer = new ArrayList<>(List.of(usage.footer()));
    if (!footer.isEmpty() && footer.get(0).startsWith("  ")) {
      footer.addAll(0, List.of("", footer.size() == 1 ? "Example:" : "Examples:"));
      usage.footer(footer.toArray(String[]::new));
    }
    line.getSubcommands().values().forEach(Main::addHelp);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }
}
