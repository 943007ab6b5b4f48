package dev.evenkeel.seconduser;

import static dev.evenkeel.seconduser.Attack.MEMBER;
import static dev.evenkeel.seconduser.Attack.NOBODY;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ReplicasRequest;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.Collections;
import java.util.List;

/** Requests that wait at the node, and addresses at which sessions listen. */
final class WaitAttacks {
  private static final int WAIT_MILLIS = 15_000;
  private static final long FAR = Long.MAX_VALUE / 4;

  static final List<Attack> ALL =
      List.of(
          new Attack("listening", MEMBER, 4, 0, WaitAttacks::listen),
          new Attack("listen-and-unlisten", MEMBER, 4, 2_000, WaitAttacks::listenAndUnlisten),
          new Attack("waiting-browses", MEMBER, 4, 2_000, WaitAttacks::browse),
          new Attack("waiting-fetches", MEMBER, 4, 500, WaitAttacks::fetchMany),
          new Attack("waiting-for-replicas", MEMBER, 4, 2_000, WaitAttacks::replicas),
          new Attack("long-polls", MEMBER, 4, 500, WaitAttacks::longPoll),
          new Attack("event-streams", MEMBER, 4, 200, WaitAttacks::events),
          new Attack("extremes", MEMBER, 4, 2_000, WaitAttacks::extremes),
          new Attack("views", NOBODY, 4, 2_000, WaitAttacks::view));

  private WaitAttacks() {}

  private static Shard shard(Lane lane) {
    return new Shard(lane.target().topic("evil"), lane.turn % 2);
  }

  /** Of a topic without a message. */
  private static Shard quiet(Lane lane) {
    return new Shard(lane.target().topic("evil-quiet"), lane.turn % 64);
  }

  /** In all, 120 connections with 2,000 addresses each. */
  private static void listen(Lane lane) throws IOException {
    if (lane.full(30)) {
      return;
    }
    RawSession session = lane.hold(lane.newSession()).read();
    for (int i = 0; i < lane.some(2_000) && !lane.over(); i++) {
      session.listen("evenkeel.member.evil-%s-%s-%s".formatted(lane.number, lane.turn, i));
    }
  }

  private static void listenAndUnlisten(Lane lane) throws IOException {
    String address = "evenkeel.member." + lane.name();
    lane.session().listen(address);
    lane.session()
        .send(
            dev.evenkeel.bus.frame.FrameKind.UNLISTEN,
            0,
            dev.evenkeel.bus.frame.SessionFrame.addressed(address).getBytes());
  }

  /** Beyond the room of one session for answers: each request is one more that waits. */
  private static void waiting(Lane lane, Op op, Bytes body) throws IOException {
    if (lane.turn % 500 == 0) {
      lane.hold(lane.newSession().read());
    }
    if (!lane.full(3_750)) {
      RawSession session = lane.lastHeld();
      session.send(
          dev.evenkeel.bus.frame.FrameKind.REQUEST,
          lane.turn + 10,
          dev.evenkeel.bus.frame.SessionFrame.requestHead(
                  Addresses.data(Lane.NODE), WAIT_MILLIS + 5_000)
              .getBytes(),
          Frames.request(op, body).getBytes());
    }
  }

  private static void browse(Lane lane) throws IOException {
    FetchRequest browse =
        FetchRequest.browse(quiet(lane), 0, 1 << 20, 1_000, WAIT_MILLIS)
            .with(MessageFilter.of(Evil.conditions(lane.turn)));
    waiting(lane, Op.BROWSE, browse.encode());
  }

  private static void fetchMany(Lane lane) throws IOException {
    FetchRequest fetch =
        FetchRequest.browse(quiet(lane), 0, 1 << 20, 1_000, WAIT_MILLIS)
            .with(MessageFilter.of(Evil.conditions(lane.turn)));
    List<FetchRequest> many = Collections.nCopies(64, fetch);
    waiting(lane, Op.FETCH_MANY, new FetchManyRequest(many).encode());
  }

  private static void replicas(Lane lane) throws IOException {
    waiting(lane, Op.AWAIT_REPLICAS, new ReplicasRequest(0, FAR, WAIT_MILLIS).encode());
  }

  private static String session(Lane lane) throws IOException {
    String sessions = "/api/groups/evil-poll" + lane.number + "-" + lane.turn + "/sessions";
    RawHttp.Answer answer =
        lane.ask(
            "POST",
            sessions,
            JsonObject.of(
                "topics", JsonArray.of("evil-quiet"), "from", "latest", "expiresMs", 16_000));
    return answer.status() == 201
        ? sessions + "/" + new JsonObject(answer.body()).getString("session")
        : null;
  }

  private static void longPoll(Lane lane) throws IOException {
    if (lane.full(250)) {
      return;
    }
    String session = session(lane);
    if (session != null) {
      RawHttp http = lane.hold(lane.newHttp());
      http.send("GET", session + "/messages?waitMs=15000", "", null);
    }
  }

  private static void events(Lane lane) throws IOException {
    if (lane.full(250)) {
      return;
    }
    String session = session(lane);
    if (session != null) {
      RawHttp http = lane.hold(lane.newHttp());
      http.send("GET", session + "/events", "Last-Event-ID: evil/0/9999999999\r\n", null);
    }
  }

  /** Numbers that are as large as can be, and places far away. */
  private static void extremes(Lane lane) throws IOException {
    Shard shard = shard(lane);
    switch (lane.turn % 6) {
      case 0 ->
          lane.data(
              Op.BROWSE,
              FetchRequest.browse(shard, Long.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, 0)
                  .encode());
      case 1 ->
          lane.data(
              Op.BROWSE,
              FetchRequest.browse(shard, 0, Integer.MAX_VALUE, Integer.MAX_VALUE, 0).encode());
      case 2 ->
          lane.control(Calls.FIND_OFFSET, new Calls.FindOffset(shard, StartAt.timestamp(1L << 50)));
      case 3 -> lane.control(Calls.FIND_OFFSET, new Calls.FindOffset(shard, StartAt.timestamp(1)));
      case 4 ->
          lane.control(
              Calls.READ_LEASE, new Calls.ReadLease("evil", new Shard(shard.topicId(), 99), true));
      default ->
          lane.data(
              Op.FETCH,
              new FetchRequest(
                      "evil",
                      shard,
                      Long.MAX_VALUE,
                      Long.MAX_VALUE,
                      Integer.MAX_VALUE,
                      Integer.MAX_VALUE,
                      Integer.MAX_VALUE,
                      Integer.MAX_VALUE)
                  .encode());
    }
  }

  private static void view(Lane lane) throws IOException {
    lane.session().request(Addresses.VIEW, new byte[0]);
  }
}
