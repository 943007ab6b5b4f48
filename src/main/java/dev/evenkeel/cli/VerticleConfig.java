package dev.evenkeel.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;

/** Reads the configuration of a verticle: JSON if the file ends with {@code .json}, else YAML. */
final class VerticleConfig {
  private VerticleConfig() {}

  /**
   * @param file null: an empty configuration
   * @throws CommandFailure if it cannot be read or holds no object; the message names the line
   */
  static JsonObject read(Path file) {
    if (file == null) {
      return new JsonObject();
    }
    CommandFailure.refuseIf(
        Files.isDirectory(file), "--conf " + file + ": that is a directory: name a file");
    if (!file.toString().endsWith(".json")) {
      return object(ConfigReader.read(file));
    }
    String text;
    try {
      text = ConfigReader.text(file);
    } catch (IOException e) {
      throw CommandFailure.failed("--conf " + file + ": cannot read it: " + e.getMessage(), e);
    }
    try {
      return (JsonObject) Json.decodeValue(text);
    } catch (DecodeException e) {
      if (e.getCause() instanceof JsonProcessingException wrong && wrong.getLocation() != null) {
        throw CommandFailure.usage(
            "%s line %s: not JSON: %s"
                .formatted(file, wrong.getLocation().getLineNr(), wrong.getOriginalMessage()));
      }
      throw CommandFailure.usage(file + ": not JSON: " + e.getMessage());
    } catch (ClassCastException e) {
      throw CommandFailure.usage(file + ": write an object: {\"key\": value}");
    }
  }

  private static JsonObject object(Map<?, ?> map) {
    JsonObject object = new JsonObject();
    map.forEach((key, value) -> object.put(String.valueOf(key), value(value)));
    return object;
  }

  private static Object value(Object value) {
    if (value instanceof Map<?, ?> map) {
      return object(map);
    }
    if (value instanceof Collection<?> list) {
      JsonArray array = new JsonArray();
      list.forEach(each -> array.add(value(each)));
      return array;
    }
    return value;
  }
}
