package dev.evenkeel.cli;

import dev.evenkeel.protocol.BuildVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Renders the help of a command as a man page, in the language of man(7). */
final class ManPage {
  private final CommandSpec spec;
  private final StringBuilder page = new StringBuilder();

  private ManPage(CommandSpec spec) {
    this.spec = spec;
  }

  /** The name of a page without its section, such as {@code evenkeel-topic-list}. */
  static String name(CommandSpec spec) {
    return spec.qualifiedName("-");
  }

  static String of(CommandLine command) {
    return new ManPage(command.getCommandSpec()).render(command);
  }

  private String render(CommandLine command) {
    String name = name(spec);
    List<String> description = texts(spec.usageMessage().description());
    request("TH", name.toUpperCase(Locale.ROOT), "1", "", version(), "Evenkeel");
    request("SH", "NAME");
    text(name + " - " + description.get(0).split("\\.( |$)")[0]);
    request("SH", "SYNOPSIS");
    request("nf");
    CommandLine.Help help = command.getHelp();
    help.synopsis(0).strip().lines().forEach(this::text);
    request("fi");
    request("SH", "DESCRIPTION");
    paragraphs(description);
    List<PositionalParamSpec> parameters = spec.positionalParameters();
    if (!parameters.isEmpty()) {
      request("SH", "PARAMETERS");
      parameters.forEach(each -> item(each.paramLabel(), each));
    }
    request("SH", "OPTIONS");
    spec.options().stream()
        .filter(option -> !option.hidden())
        .sorted(Comparator.comparing(OptionSpec::longestName))
        .forEach(option -> item(names(option, help), option));
    commands(command);
    footer(texts(spec.usageMessage().footer()));
    if (spec.parent() != null) {
      request("SH", "SEE ALSO");
      request("BR", name(spec.parent()), "(1)");
    }
    return page.toString();
  }

  private static String version() {
    return "Evenkeel " + BuildVersion.number();
  }

  private void commands(CommandLine command) {
    List<CommandSpec> shown =
        command.getSubcommands().values().stream()
            .map(CommandLine::getCommandSpec)
            .filter(each -> !each.usageMessage().hidden())
            .toList();
    if (shown.isEmpty()) {
      return;
    }
    request("SH", "COMMANDS");
    for (CommandSpec each : shown) {
      request("TP");
      request("BR", name(each), "(1)");
      text(texts(each.usageMessage().description()).get(0));
    }
  }

  private static String names(OptionSpec option, CommandLine.Help help) {
    String label =
        help.parameterLabelRenderer().renderParameterLabel(option, Ansi.OFF, List.of()).toString();
    return String.join(", ", option.names()) + label;
  }

  private void item(String name, ArgSpec arg) {
    request("TP");
    request("B", name);
    texts(arg.description()).forEach(this::text);
  }

  private void paragraphs(List<String> lines) {
    for (String line : lines) {
      request("PP");
      text(line);
    }
  }

  /** Lines that begin with blanks are examples, and stay as they are. */
  private void footer(List<String> lines) {
    boolean examples = false;
    boolean text = false;
    for (String line : lines) {
      boolean example = line.startsWith("  ");
      if (example != examples) {
        request(example ? "nf" : "fi");
      }
      if (line.startsWith("Example")) {
        request("SH", "EXAMPLES");
      } else if (example) {
        text(line.substring(2));
      } else if (!line.isBlank()) {
        if (!text) {
          request("PP");
        }
        text(line);
      }
      examples = example;
      text = !example && !line.isBlank();
    }
    if (examples) {
      request("fi");
    }
  }

  private static List<String> texts(String[] lines) {
    List<String> texts = new ArrayList<>();
    for (String line : lines) {
      Ansi.OFF.string(line).lines().forEach(texts::add);
      if (line.isEmpty()) {
        texts.add("");
      }
    }
    return texts;
  }

  private void request(String macro, String... arguments) {
    page.append('.').append(macro);
    for (String argument : arguments) {
      page.append(" \"").append(escaped(argument)).append('"');
    }
    page.append('\n');
  }

  /** A line of text. A dot or a quote at its beginning would make it a request. */
  private void text(String line) {
    page.append(line.startsWith(".") || line.startsWith("'") ? "\\&" : "")
        .append(escaped(line))
        .append('\n');
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\e").replace("-", "\\-").replace("\"", "\\(dq");
  }
}
