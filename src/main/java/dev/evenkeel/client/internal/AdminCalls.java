package dev.evenkeel.client.internal;

import dev.evenkeel.api.Operation;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Admin;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Asks the {@code evenkeel.api} addresses, as HTTP does. */
final class AdminCalls implements Admin {
  /** Longer than any wait behind the addresses. */
  private static final long TIMEOUT_MILLIS = 30_000;

  private final Link link;

  AdminCalls(Link link) {
    this.link = link;
  }

  private Future<Buffer> ask(String address, JsonObject question) {
    return link.request(address, question.toBuffer(), TIMEOUT_MILLIS);
  }

  private Future<JsonObject> groups(JsonObject question) {
    return ask(Addresses.API_GROUPS, question).map(JsonObject::new);
  }

  private static JsonObject action(String action) {
    return new JsonObject().put("action", action);
  }

  private static <T> List<T> list(Buffer answer, Function<JsonObject, T> each) {
    return list(new JsonArray(answer), each);
  }

  private static <T> List<T> list(JsonArray array, Function<JsonObject, T> each) {
    return array.stream().map(JsonObject.class::cast).map(each).toList();
  }

  @Override
  public Future<List<DeadLetter>> deadLetters(String group, String after, int limit) {
    JsonObject question =
        action("dead-letters").put("group", group).put("after", after).put("limit", limit);
    return ask(Addresses.API_GROUPS, question).map(all -> list(all, AdminCalls::deadLetter));
  }

  private static DeadLetter deadLetter(JsonObject json) {
    String topic = json.getString("topic");
    int shard = json.getInteger("shard");
    long offset = json.getLong("offset");
    return new DeadLetter(
        topic + "/" + shard + "/" + offset,
        topic,
        shard,
        offset,
        json.getInteger("attempts"),
        json.getString("error"),
        json);
  }

  @Override
  public Future<Long> replay(String group, List<String> names) {
    return some("replay", group, names);
  }

  @Override
  public Future<Long> replayAll(String group) {
    return all("replay", group);
  }

  @Override
  public Future<Long> drop(String group, List<String> names) {
    return some("drop", group, names);
  }

  @Override
  public Future<Long> dropAll(String group) {
    return all("drop", group);
  }

  private Future<Long> some(String action, String group, List<String> names) {
    JsonArray array = new JsonArray(new ArrayList<>(names));
    return groups(action(action).put("group", group).put("deadLetters", array))
        .map(answer -> answer.getLong("count"));
  }

  private Future<Long> all(String action, String group) {
    return groups(action(action).put("group", group).put("all", true))
        .map(answer -> answer.getLong("count"));
  }

  @Override
  public <Q extends Record, A> Future<A> ask(Operation<Q, A> operation, Q question) {
    return ask(operation.address(), operation.ask(question))
        .map(Json::decodeValue)
        .map(operation::readAnswer);
  }
}
