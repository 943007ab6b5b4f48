package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Puts messages into a topic and looks at what it has, both by a node's HTTP API: no other JVM has
 * to start, and what is read depends on no consumer, which may be given a message twice.
 */
final class TopicMessages {
  private TopicMessages() {}

  /**
   * Sends each line of a file, and waits until it is acknowledged.
   *
   * @param keyRegex its first group is the key; null: without keys
   */
  static void send(Node node, String topic, Path file, String keyRegex) {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Pattern key = keyRegex == null ? null : Pattern.compile(keyRegex);
    node.sendAll(topic, lines.stream().map(line -> message(key, line)).toList());
  }

  private static JsonObject message(Pattern key, String line) {
    JsonObject message = new JsonObject().put("payload", line);
    if (key != null) {
      Matcher matcher = key.matcher(line);
      assertThat(matcher.find()).as(line).isTrue();
      message.put("key", matcher.group(1));
    }
    return message;
  }

  /** How many messages a topic has; −1 while that is not known of every shard. */
  static long count(Node node, String topic) {
    HttpResponse<String> answer = node.get("/api/topics/" + topic);
    Long messages =
        answer.statusCode() == 200 ? new JsonObject(answer.body()).getLong("messages") : null;
    return messages == null ? -1 : messages;
  }

  /** A topic has so many messages, which are all acknowledged. */
  static void assertCount(Node node, String topic, long messages) {
    Wait.untilAsserted(
        "messages of " + topic, 30, () -> assertThat(count(node, topic)).isEqualTo(messages));
  }

  /** All messages of a topic that keeps everything, shard by shard in their order. */
  static List<JsonObject> read(Node node, String topic, int shards) {
    List<JsonObject> all = new ArrayList<>();
    for (int shard = 0; shard < shards; shard++) {
      long offset = 0;
      JsonArray page = page(node, topic, shard, offset);
      while (!page.isEmpty()) {
        page.forEach(each -> all.add((JsonObject) each));
        offset += page.size();
        page = page(node, topic, shard, offset);
      }
    }
    return all;
  }

  private static JsonArray page(Node node, String topic, int shard, long offset) {
    var path = "/api/topics/" + topic + "/messages?limit=1000&shard=" + shard + "&offset=" + offset;
    return new JsonArray(node.read(path));
  }
}
