package dev.evenkeel.cli;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/** Reads a node's YAML file. Only plain maps, lists and values: no tags, no aliases without end. */
final class ConfigFile {
  private static final int CODE_POINTS_MAX = 1 << 20;

  private ConfigFile() {}

  /**
   * @throws CommandFailure if it cannot be read or is not a YAML map
   */
  static Map<String, Object> read(Path path) {
    try (Reader in = Files.newBufferedReader(path)) {
      return parse(in, path.toString());
    } catch (NoSuchFileException e) {
      throw CommandFailure.usage("--conf " + path + ": there is no such file");
    } catch (MalformedInputException e) {
      throw CommandFailure.usage("--conf " + path + ": the file is not UTF-8 text");
    } catch (IOException e) {
      throw CommandFailure.failed("--conf " + path + ": cannot read it: " + e.getMessage(), e);
    }
  }

  static Map<String, Object> parse(Reader in, String name) {
    LoaderOptions options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    options.setCodePointLimit(CODE_POINTS_MAX);
    Object root;
    try {
      root = new Yaml(new SafeConstructor(options)).load(in);
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

  private static String oneLine(String text) {
    return text == null ? "" : text.replaceAll("\\s+", " ").trim();
  }
}
