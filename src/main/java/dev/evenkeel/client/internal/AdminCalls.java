package dev.evenkeel.client.internal;

import dev.evenkeel.api.Operation;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.TopicSettings;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
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

  private Future<JsonObject> topics(JsonObject question) {
    return ask(Addresses.API_TOPICS, question).map(JsonObject::new);
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
  public Future<Topic> createTopic(String name, int shards, TopicSettings settings) {
    JsonObject question = action("create").put("name", name).put("shards", shards);
    return topics(question.mergeIn(settings.toJson())).map(AdminCalls::topic);
  }

  @Override
  public Future<List<Topic>> topics() {
    return ask(Addresses.API_TOPICS, action("list")).map(all -> list(all, AdminCalls::topic));
  }

  @Override
  public Future<Topic> topic(String name) {
    return topics(action("get").put("name", name)).map(AdminCalls::topic);
  }

  @Override
  public Future<Topic> changeTopic(String name, TopicSettings changes) {
    JsonObject question = action("configure").put("name", name);
    return topics(question.mergeIn(changes.toJson())).map(AdminCalls::topic);
  }

  @Override
  public Future<Topic> reshard(String name, int shards) {
    return topics(action("reshard").put("name", name).put("shards", shards)).map(AdminCalls::topic);
  }

  @Override
  public Future<Void> deleteTopic(String name) {
    return topics(action("delete").put("name", name)).mapEmpty();
  }

  private static Topic topic(JsonObject json) {
    TopicSettings settings =
        new TopicSettings()
            .setRetentionMillis(json.getLong("retentionMillis"))
            .setAgeMillisMax(json.getLong("ageMillisMax"))
            .setShardBytesMax(json.getLong("shardBytesMax"));
    return new Topic(
        json.getString("name"),
        json.getInteger("shards"),
        settings,
        json.getLong("messages"),
        json.getLong("bytes"),
        json);
  }

  @Override
  public Future<DelayedPage> delayedMessages(String topic, String key, String from, int limit) {
    JsonObject question =
        delayed("list", topic).put("key", key).put("from", from).put("limit", limit);
    return ask(Addresses.API_DELAYED, question)
        .map(JsonObject::new)
        .map(
            page ->
                new DelayedPage(
                    list(page.getJsonArray("messages"), AdminCalls::delayedMessage),
                    page.getString("next")));
  }

  @Override
  public Future<DelayedMessage> delayedMessage(String topic, String id) {
    return ask(Addresses.API_DELAYED, delayed("get", topic).put("id", id))
        .map(JsonObject::new)
        .map(AdminCalls::delayedMessage);
  }

  @Override
  public Future<Void> cancelDelayed(String topic, String id) {
    return ask(Addresses.API_DELAYED, delayed("cancel", topic).put("id", id)).mapEmpty();
  }

  private static JsonObject delayed(String action, String topic) {
    return action(action).put("topic", topic);
  }

  private static DelayedMessage delayedMessage(JsonObject json) {
    return new DelayedMessage(
        json.getString("id"),
        json.getInteger("shard"),
        Instant.ofEpochMilli(json.getLong("deliverAt")),
        json);
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
