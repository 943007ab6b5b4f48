package dev.evenkeel.cli;

import dev.evenkeel.protocol.Nearest;
import java.util.Collection;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Puts the settings of a node together: defaults, then the file, then the environment, then the
 * command line; the later wins. Pure: the environment is handed in.
 */
public final class ConfigMerge {
  private static final String PREFIX = "EVENKEEL_";

  /**
   * What Kubernetes puts into the environment for a service called "evenkeel"; not meant for us.
   */
  private static final Pattern SERVICE_LINK =
      Pattern.compile("EVENKEEL_(.*_)?(SERVICE_(HOST|PORT)(_.*)?|PORT_\\d+_(TCP|UDP).*)");

  private final Map<String, Object> values = new HashMap<>();

  private ConfigMerge() {}

  /**
   * @param file what the YAML file holds; empty if there is none
   * @param fileName for errors
   * @param environment all variables
   * @param commandLine key → text
   * @return key → String, Long, List of String, or null where there is no value
   * @throws CommandFailure wrong usage
   */
  public static Map<String, Object> merge(
      Map<String, Object> file,
      String fileName,
      Map<String, String> environment,
      Map<String, String> commandLine) {
    ConfigMerge merge = new ConfigMerge();
    ConfigKeys.ALL.forEach(key -> merge.values.put(key.name(), key.defaultValue()));
    merge.addTree(file, "", fileName);
    new TreeMap<>(environment).forEach(merge::addVariable);
    commandLine.forEach(
        (name, text) -> merge.set(ConfigKeys.BY_NAME.get(name), text, "command line"));
    return merge.values;
  }

  /** Nested maps are names with hyphens: {@code http: {port: 1}} is {@code http-port: 1}. */
  private void addTree(Map<?, ?> tree, String prefix, String fileName) {
    tree.forEach(
        (part, value) -> {
          String name = prefix + part;
          if (value instanceof Map<?, ?> nested) {
            addTree(nested, name + "-", fileName);
            return;
          }
          ConfigKey key = ConfigKeys.BY_NAME.get(name);
          if (key == null) {
            throw unknown(fileName, name, ConfigKeys.BY_NAME.keySet());
          }
          set(key, value, fileName);
        });
  }

  private void addVariable(String variable, String text) {
    boolean foreign =
        !variable.startsWith(PREFIX)
            || variable.equals("EVENKEEL_CONF")
            || SERVICE_LINK.matcher(variable).matches()
            || text.startsWith("tcp://")
            || text.startsWith("udp://");
    if (foreign) {
      return;
    }
    String name = variable.substring(PREFIX.length()).toLowerCase(Locale.ROOT).replace('_', '-');
    ConfigKey key = ConfigKeys.BY_NAME.get(name);
    if (key == null) {
      throw unknown(
          "environment",
          variable,
          ConfigKeys.ALL.stream().map(ConfigKey::environmentName).toList());
    }
    set(key, text, "environment " + variable);
  }

  private void set(ConfigKey key, Object raw, String source) {
    values.put(key.name(), key.parse(raw, source));
  }

  private static CommandFailure unknown(String source, String name, Collection<String> known) {
    String nearest = Nearest.to(name, known);
    return CommandFailure.usage(
        source
            + ": unknown key '"
            + name
            + "'"
            + (nearest == null
                ? ": evenkeel serve --help lists all"
                : ": did you mean '" + nearest + "'?"));
  }
}
