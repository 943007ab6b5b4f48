package dev.evenkeel.cli;

import dev.evenkeel.settings.Setting;
import dev.evenkeel.util.Nearest;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.representer.Representer;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * Reads the settings of a node from the defaults, the YAML file, the environment and the command
 * line. A later source overrides an earlier one.
 */
public final class ConfigReader {
  private static final int CODE_POINTS_MAX = 1 << 20;
  private static final String PREFIX = "EVENKEEL_";

  /** Variables that Kubernetes sets for a service called "evenkeel". They are no settings. */
  private static final Pattern SERVICE_LINK =
      Pattern.compile("EVENKEEL_(.*_)?(SERVICE_(HOST|PORT)(_.*)?|PORT_\\d+_(TCP|UDP).*)");

  private final NodeOptions options = new NodeOptions();

  private ConfigReader() {}

  /**
   * @param file the content of the YAML file; empty if there is none
   * @param fileName names the file in errors
   * @param environment all variables
   * @param commandLine key → text
   * @throws CommandFailure wrong usage
   */
  public static NodeOptions merge(
      Map<String, Object> file,
      String fileName,
      Map<String, String> environment,
      Map<String, String> commandLine) {
    ConfigReader merge = new ConfigReader();
    merge.addTree(file, "", fileName);
    new TreeMap<>(environment).forEach(merge::addVariable);
    commandLine.forEach(
        (name, text) -> merge.options.read(NodeOptions.SETTINGS.of(name), text, "command line"));
    return merge.options;
  }

  /** Joins nested names with hyphens: {@code http: {port: 1}} is {@code http-port: 1}. */
  private void addTree(Map<?, ?> tree, String prefix, String fileName) {
    tree.forEach(
        (part, value) -> {
          String name = prefix + part;
          if (value instanceof Map<?, ?> nested
              && !NodeOptions.SETTINGS.byKey().containsKey(name)) {
            addTree(nested, name + "-", fileName);
            return;
          }
          Setting<?> setting = NodeOptions.SETTINGS.byKey().get(name);
          if (setting == null) {
            throw unknown(fileName, name, NodeOptions.SETTINGS.byKey().keySet());
          }
          options.read(setting, value, fileName);
        });
  }

  private void addVariable(String variable, String text) {
    boolean foreign =
        !variable.startsWith(PREFIX)
            || variable.equals("EVENKEEL_CONF")
            // For the script that starts the JVM.
            || variable.equals("EVENKEEL_JAVA_OPTS")
            // For commands that connect to a node.
            || CredentialOptions.VARIABLES.contains(variable)
            || SERVICE_LINK.matcher(variable).matches()
            || text.startsWith("tcp://")
            || text.startsWith("udp://");
    if (foreign) {
      return;
    }
    String name = variable.substring(PREFIX.length()).toLowerCase(Locale.ROOT).replace('_', '-');
    Setting<?> setting = NodeOptions.SETTINGS.byKey().get(name);
    if (setting == null) {
      throw unknown(
          "environment",
          variable,
          NodeOptions.SETTINGS.all().stream().map(NodeOptions::variable).toList());
    }
    options.read(setting, text, "environment " + variable);
  }

  private static CommandFailure unknown(String source, String name, Collection<String> known) {
    String nearest = Nearest.to(name, known);
    return CommandFailure.usage(
        "%s: unknown key '%s'%s"
            .formatted(
                source,
                name,
                nearest == null
                    ? ": evenkeel serve --help lists all"
                    : ": did you mean '" + nearest + "'?"));
  }

  /**
   * @throws CommandFailure if it cannot be read or is not a YAML map
   */
  static Map<String, Object> read(Path path) {
    try {
      return parse(new StringReader(text(path)), path.toString());
    } catch (IOException e) {
      throw CommandFailure.failed("--conf " + path + ": cannot read it: " + e.getMessage(), e);
    }
  }

  /**
   * The text of a file that an option {@code --conf} names.
   *
   * @throws CommandFailure if it is missing or not UTF-8
   */
  static String text(Path path) throws IOException {
    try {
      return Files.readString(path);
    } catch (NoSuchFileException e) {
      throw CommandFailure.usage("--conf " + path + ": there is no such file");
    } catch (MalformedInputException e) {
      throw CommandFailure.usage("--conf " + path + ": the file is not UTF-8 text");
    }
  }

  /** Parses YAML of plain maps, lists and values; tags and recursive aliases are refused. */
  static Map<String, Object> parse(Reader in, String name) {
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    options.setCodePointLimit(CODE_POINTS_MAX);
    Object root;
    try {
      root = yaml(options).load(in);
    } catch (MarkedYAMLException e) {
      int line = e.getProblemMark() == null ? 0 : e.getProblemMark().getLine() + 1;
      throw CommandFailure.usage(name + " line " + line + ": not YAML: " + e.getProblem());
    } catch (YAMLException e) {
      throw CommandFailure.usage(name + ": not YAML: " + oneLine(e.getMessage()));
    }
    if (root == null) {
      return Map.of();
    }
    if (!(root instanceof Map<?, ?> map)) {
      throw CommandFailure.usage(name + ": write lines of the form 'key: value'");
    }
    Map<String, Object> values = new LinkedHashMap<>();
    map.forEach((key, value) -> values.put(String.valueOf(key), value));
    return values;
  }

  /** Texts that look like dates stay texts. */
  private static Yaml yaml(LoaderOptions options) {
    DumperOptions dumping = new DumperOptions();
    Resolver resolver =
        new Resolver() {
          @Override
          public void addImplicitResolver(Tag tag, Pattern pattern, String first, int limit) {
            if (!tag.equals(Tag.TIMESTAMP)) {
              super.addImplicitResolver(tag, pattern, first, limit);
            }
          }
        };
    return new Yaml(
        new SafeConstructor(options), new Representer(dumping), dumping, options, resolver);
  }

  private static String oneLine(String text) {
    return text == null ? "" : text.replaceAll("\\s+", " ").trim();
  }
}
