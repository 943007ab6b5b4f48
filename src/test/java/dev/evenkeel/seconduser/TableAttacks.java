package dev.evenkeel.seconduser;

import static dev.evenkeel.seconduser.Attack.MEMBER;
import static dev.evenkeel.seconduser.Attack.NOBODY;
import static dev.evenkeel.seconduser.Attack.OWNER;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.List;

/** What fills tables of the cluster and of the node. */
final class TableAttacks {
  private static final int RATE = 2_000;

  /** Over HTTP, a step is a request and its answer. */
  private static final int HTTP_RATE = 500;

  /** Long enough for an attack, and soon over for what comes behind it. */
  private static final int EXPIRES_MILLIS = 6_000;

  static final List<Attack> ALL =
      List.of(
          new Attack("open-producers", NOBODY, 2, RATE, TableAttacks::openProducer),
          new Attack("open-producers-of-member", MEMBER, 2, RATE, TableAttacks::openProducer),
          new Attack(
              "producer-names",
              MEMBER,
              4,
              RATE,
              lane ->
                  lane.control(
                      Calls.SUBMIT_META,
                      new MetaCommand.RegisterProducer("member-" + lane.name()))),
          new Attack(
              "unnamed-producers",
              MEMBER,
              4,
              RATE,
              lane -> lane.control(Calls.SUBMIT_META, new MetaCommand.RegisterProducer(null))),
          new Attack("producer-sequences", MEMBER, 8, RATE, TableAttacks::sequence),
          new Attack("spool-publishers", MEMBER, 2, RATE, TableAttacks::spoolPublisher),
          new Attack("group-publishers", MEMBER, 2, RATE, TableAttacks::groupPublisher),
          new Attack("quotas", OWNER, 4, HTTP_RATE, TableAttacks::quota),
          new Attack("topics", OWNER, 2, 20, TableAttacks::topic),
          new Attack("http-sessions", MEMBER, 4, HTTP_RATE, TableAttacks::httpSession),
          new Attack(
              "browser-log-ins",
              MEMBER,
              4,
              HTTP_RATE,
              lane -> lane.ask("POST", "/api/session", JsonObject.of("token", lane.token()))),
          new Attack("claims", MEMBER, 4, HTTP_RATE, TableAttacks::claim),
          new Attack("tracks", MEMBER, 4, HTTP_RATE, TableAttacks::track),
          new Attack("candidates", MEMBER, 4, HTTP_RATE, TableAttacks::candidate),
          new Attack("idempotency-keys", MEMBER, 4, HTTP_RATE, TableAttacks::idempotencyKey),
          new Attack("resets", OWNER, 4, HTTP_RATE, TableAttacks::reset),
          new Attack("pauses", OWNER, 4, HTTP_RATE, TableAttacks::pause),
          new Attack("dead-letters", OWNER, 4, HTTP_RATE, TableAttacks::deadLetters),
          new Attack("cancels", MEMBER, 4, HTTP_RATE, TableAttacks::cancel));

  private TableAttacks() {}

  /** Ids of producers are counted from 1. */
  private static void openProducer(Lane lane) throws IOException {
    long id = 1 + lane.turn * 2L + lane.number;
    lane.control(
        Calls.SUBMIT_DATA,
        new Calls.ToGroup(0, new DataCommand.OpenProducer(id, Integer.MAX_VALUE)));
  }

  /** A producer without a name that sends one message. */
  private static void sequence(Lane lane) throws IOException {
    byte[] register = Calls.SUBMIT_META.request(new MetaCommand.RegisterProducer(null)).getBytes();
    Reply reply =
        Calls.taken(
            Calls.SUBMIT_META.answered(lane.session().ask(Addresses.control(Lane.NODE), register)));
    if (reply instanceof Reply.OfProducer of) {
      Bytes body = new Bytes();
      AppendBody.write(
          body,
          new Shard(lane.target().topic("evil"), lane.turn % 2),
          Evil.batch(of.producerId(), of.epoch(), 1));
      lane.data(Op.APPEND, body);
    }
  }

  private static void spoolPublisher(Lane lane) throws IOException {
    long id = 1_000_000L * lane.number + lane.turn;
    lane.control(
        Calls.SUBMIT_DATA,
        new Calls.ToGroup(
            0,
            new DataCommand.OpenPublisher(
                SpoolPublisher.id(id),
                1,
                SpoolPublisher.group(id),
                SpoolPublisher.input(lane.target().topic("evil")),
                true)));
  }

  private static void groupPublisher(Lane lane) throws IOException {
    lane.control(
        Calls.SUBMIT_DATA,
        new Calls.ToGroup(
            0,
            new DataCommand.OpenPublisher(
                1_000_000L * lane.number + lane.turn,
                1,
                lane.name(),
                new Shard(lane.target().topic("evil"), lane.turn % 2),
                true)));
  }

  private static void quota(Lane lane) throws IOException {
    lane.ask("PUT", "/api/quotas/topic/" + lane.name(), JsonObject.of("messages", 1 + lane.turn));
  }

  private static void topic(Lane lane) throws IOException {
    String name = lane.name();
    lane.ask("POST", "/api/topics", JsonObject.of("name", name, "shards", 1));
    if (lane.turn % 2 == 0) {
      lane.ask("DELETE", "/api/topics/" + name, null);
    }
  }

  private static void httpSession(Lane lane) throws IOException {
    lane.ask(
        "POST",
        "/api/groups/" + lane.name() + "/sessions",
        JsonObject.of("topics", JsonArray.of("evil"), "expiresMs", EXPIRES_MILLIS));
  }

  private static void claim(Lane lane) throws IOException {
    lane.ask(
        "POST",
        "/api/dedup/evil/claims",
        JsonObject.of(
            "key", lane.name(), "expiresMs", EXPIRES_MILLIS, "timeoutMs", EXPIRES_MILLIS));
  }

  private static void track(Lane lane) throws IOException {
    lane.ask(
        "POST",
        "/api/coordinators/evil-walk" + lane.turn % 50 + "/tracks",
        JsonObject.of("name", lane.name(), "expiresMs", EXPIRES_MILLIS));
  }

  private static void candidate(Lane lane) throws IOException {
    lane.ask(
        "POST",
        "/api/elections/evil-election" + lane.turn % 50 + "/candidates",
        JsonObject.of("member", lane.name(), "expiresMs", EXPIRES_MILLIS));
  }

  private static void idempotencyKey(Lane lane) throws IOException {
    byte[] body = "{\"payload\":\"p\"}".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    lane.http()
        .send(
            "POST",
            "/api/topics/evil/messages",
            "Content-Type: application/json\r\nIdempotency-Key: " + lane.name() + "\r\n",
            body);
    lane.outcome().answered(lane.http().read());
  }

  private static void reset(Lane lane) throws IOException {
    lane.ask(
        "POST",
        "/api/groups/evil/offsets",
        JsonObject.of("to", lane.turn % 2 == 0 ? "earliest" : "latest", "force", true));
  }

  private static void pause(Lane lane) throws IOException {
    lane.ask(
        "POST",
        "/api/groups/evil/" + (lane.turn % 2 == 0 ? "pause" : "resume"),
        JsonObject.of("topic", "evil", "shard", lane.random.nextInt(2)));
  }

  private static void deadLetters(Lane lane) throws IOException {
    switch (lane.turn % 4) {
      case 0 -> lane.ask("GET", "/api/groups/evil/dead-letters?limit=1000", null);
      case 1 -> lane.ask("GET", "/api/groups/evil/retries?limit=1000", null);
      case 2 ->
          lane.ask("POST", "/api/groups/evil/dead-letters/replay", JsonObject.of("all", true));
      default -> {
        JsonArray names = new JsonArray();
        for (int i = 0; i < 1_000; i++) {
          names.add("evil/0/" + lane.random.nextInt(1_000_000));
        }
        lane.ask("POST", "/api/groups/evil/dead-letters/drop", JsonObject.of("deadLetters", names));
      }
    }
  }

  /** Of messages of others, and of its own that are not there. */
  private static void cancel(Lane lane) throws IOException {
    String topic = lane.turn % 2 == 0 ? "honest" : "evil";
    long due = System.currentTimeMillis() + lane.random.nextInt(1_000_000);
    lane.ask("DELETE", "/api/topics/%s/delayed/0-%s-%s-0".formatted(topic, due, lane.turn), null);
  }
}
