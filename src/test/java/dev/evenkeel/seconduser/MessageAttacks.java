package dev.evenkeel.seconduser;

import static dev.evenkeel.seconduser.Attack.MEMBER;

import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Messages that are many, packed, late or too much. */
final class MessageAttacks {
  private static final int MEBIBYTE = 1 << 20;

  static final List<Attack> ALL =
      List.of(
          new Attack("packed-batches", MEMBER, 2, 20, MessageAttacks::appendPacked),
          new Attack("filtered-looks", MEMBER, 8, 0, MessageAttacks::look),
          new Attack("looks-by-key", MEMBER, 8, 0, MessageAttacks::lookByKey),
          new Attack("shared-shard", MEMBER, 4, 2_000, lane -> append(lane, "shared", tiny())),
          new Attack("small-appends", MEMBER, 4, 2_000, lane -> append(lane, "evil", tiny())),
          new Attack(
              "large-appends",
              MEMBER,
              4,
              20,
              lane -> append(lane, "evil", Evil.large(MEBIBYTE - 1_000))),
          new Attack("full-topic", MEMBER, 4, 200, lane -> append(lane, "evil-full", some())),
          new Attack("far-delays", MEMBER, 4, 1_000, MessageAttacks::delay),
          new Attack("soon-delays", MEMBER, 4, 500, MessageAttacks::delaySoon),
          new Attack("many-over-http", MEMBER, 4, 20, MessageAttacks::manyOverHttp));

  private MessageAttacks() {}

  private static Batch tiny() {
    return Evil.batch(0, 0, 1);
  }

  private static Batch some() {
    return Evil.batch(0, 0, 1_000);
  }

  private static void append(Lane lane, String topic, Batch batch) throws IOException {
    Bytes body = new Bytes();
    AppendBody.write(body, new Shard(lane.target().topic(topic), 0), batch);
    lane.data(Op.APPEND, body);
  }

  /** Made at the first use. */
  private static final class Packed {
    static final Batch BATCH = Evil.packed(Limits.BATCH_MESSAGES_MAX);
  }

  /** Some kilobytes have half a million messages. */
  private static void appendPacked(Lane lane) throws IOException {
    Bytes body = new Bytes();
    for (int i = 0; i < 8; i++) {
      AppendBody.write(body, new Shard(lane.target().topic("evil-packed"), 0), Packed.BATCH);
    }
    lane.data(Op.APPEND, body);
  }

  /** The topic is full of packed batches. */
  private static void look(Lane lane) throws IOException {
    Shard shard = new Shard(lane.target().topic("evil-packed"), 0);
    FetchRequest browse =
        FetchRequest.browse(shard, lane.random.nextInt(1 << 20), MEBIBYTE, 1_000, 0)
            .with(MessageFilter.of(Evil.conditions(lane.turn)));
    lane.data(Op.BROWSE, browse.encode());
  }

  private static void lookByKey(Lane lane) throws IOException {
    lane.ask("GET", "/api/topics/evil-packed/messages?shard=0&key=k&limit=1000", null);
  }

  private static void delay(Lane lane) throws IOException {
    long due = System.currentTimeMillis() + Duration.ofDays(29).toMillis() + lane.turn;
    Bytes body = new Bytes();
    AppendBody.write(
        body,
        new AppendBody.Item(new Shard(lane.target().topic("evil"), lane.turn % 2), tiny(), due));
    lane.data(Op.APPEND, body);
  }

  /** All are due at once. */
  private static void delaySoon(Lane lane) throws IOException {
    long due = (System.currentTimeMillis() / 5_000 + 1) * 5_000;
    Bytes body = new Bytes();
    AppendBody.write(
        body, new AppendBody.Item(new Shard(lane.target().topic("evil"), 0), tiny(), due));
    lane.data(Op.APPEND, body);
  }

  private static void manyOverHttp(Lane lane) throws IOException {
    JsonArray messages = new JsonArray();
    for (int i = 0; i < 1_000; i++) {
      messages.add(JsonObject.of("key", "k" + i, "payload", "p".repeat(1_000)));
    }
    RawHttp.Answer answer = lane.http().ask("POST", "/api/topics/evil/messages", messages.encode());
    lane.outcome().answered(answer);
  }
}
