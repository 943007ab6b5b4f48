package dev.evenkeel.seconduser;

import static dev.evenkeel.seconduser.Attack.MEMBER;
import static dev.evenkeel.seconduser.Attack.OWNER;
import static dev.evenkeel.seconduser.Attack.PEER;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.SharedClaim;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What members of groups do to the dispatcher, and in the name of others. */
final class MemberAttacks {
  private static final int RATE = 1_000;
  private static final List<String> TOPICS = List.of("evil");

  static final List<Attack> ALL =
      List.of(
          new Attack(
              "groups",
              MEMBER,
              2,
              RATE,
              lane -> beat(lane, lane.name(), "m", GroupPolicy.SHARDED, TOPICS)),
          new Attack(
              "members",
              MEMBER,
              2,
              RATE,
              lane -> beat(lane, "evil-many", lane.name(), GroupPolicy.SHARDED, TOPICS)),
          new Attack(
              "level-members",
              MEMBER,
              2,
              200,
              lane ->
                  beat(
                      lane,
                      "evil-level",
                      lane.name(),
                      GroupPolicy.of(GroupPolicy.MODE_LEVEL),
                      TOPICS)),
          new Attack("members-with-filters", MEMBER, 2, 100, MemberAttacks::filtering),
          new Attack("patterns", MEMBER, 2, 10, MemberAttacks::patterns),
          new Attack("joins-and-leaves", MEMBER, 2, 200, MemberAttacks::joinAndLeave),
          new Attack("level-reports", MEMBER, 2, RATE, MemberAttacks::report),
          new Attack("other-sessions", PEER, 2, 200, MemberAttacks::otherSession),
          new Attack("reserves", MEMBER, 2, RATE, MemberAttacks::reserve),
          new Attack("plans", OWNER, 4, 100, MemberAttacks::plan),
          new Attack("dedup-steps", MEMBER, 2, RATE, MemberAttacks::dedup),
          new Attack("error-texts", MEMBER, 2, 200, MemberAttacks::errorText));

  private MemberAttacks() {}

  private static void beat(
      Lane lane, String group, String member, GroupPolicy policy, List<String> topics)
      throws IOException {
    RawSession session = lane.session();
    send(lane, Evil.heartbeat(group, member, session.id(), policy, topics));
  }

  private static void send(Lane lane, JsonObject heartbeat) throws IOException {
    lane.session().request(Addresses.dispatcher(Lane.NODE), heartbeat.toBuffer().getBytes());
  }

  private static void filtering(Lane lane) throws IOException {
    if (lane.full(600)) {
      return;
    }
    JsonObject beat =
        Evil.heartbeat(
            "evil-filters",
            lane.name(),
            lane.session().id(),
            GroupPolicy.of(GroupPolicy.MODE_BROADCAST),
            TOPICS);
    send(lane, Evil.withFilter(beat, lane.turn));
  }

  private static void patterns(Lane lane) throws IOException {
    List<String> patterns = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      patterns.add("evil-" + i + "-" + lane.turn + "*");
    }
    beat(lane, "evil-patterns", lane.name(), GroupPolicy.SHARDED, patterns);
  }

  private static void joinAndLeave(Lane lane) throws IOException {
    JsonObject beat =
        Evil.heartbeat("evil-join", lane.name(), lane.session().id(), GroupPolicy.SHARDED, TOPICS);
    send(lane, beat);
    send(lane, beat.copy().put("leaving", true));
  }

  private static void report(Lane lane) throws IOException {
    long[] ended = new long[5_000];
    for (int i = 0; i < ended.length; i++) {
      ended[i] = 2L * i;
    }
    List<Report.Failed> failed = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      failed.add(new Report.Failed(i, "error".repeat(100)));
    }
    Report report =
        new Report("evil-level", lane.session().id(), 1, 1, lane.turn, 9, 0, ended, failed, 9);
    lane.session()
        .request(
            Addresses.levelDispatcher(Lane.NODE),
            Frames.request(Op.LEVEL_REPORT, report.encode()).getBytes());
  }

  /** What is shown of a session to whoever sees a group must not be of use. */
  private static void otherSession(Lane lane) throws IOException {
    String other = lane.target().session();
    if (other != null) {
      JsonObject beat =
          Evil.heartbeat("evil-other", lane.name(), other, GroupPolicy.SHARDED, TOPICS);
      send(lane, lane.turn % 2 == 0 ? beat : beat.put("leaving", true));
      RawSession.open(lane.target(), lane.token(), other, lane.outcome()).close();
    }
  }

  private static void reserve(Lane lane) throws IOException {
    String group = lane.turn % 2 == 0 ? "evil" : lane.name();
    Quota stated = Quota.perSecond(QuotaKind.GROUP_RATE, group, 0, Quota.MESSAGES_MAX);
    lane.control(
        Calls.RESERVE,
        new ReserveRequest(
            stated.key(),
            0,
            ReserveRequest.AMOUNT_MAX,
            ReserveRequest.ANY_WAIT,
            lane.turn % 3 == 0 ? null : stated));
  }

  private static void plan(Lane lane) throws IOException {
    lane.ask(
        "POST",
        "/api/groups/evil/plan",
        JsonObject.of("add", 1_000, "shards", JsonObject.of("evil", 10_000)));
  }

  private static void dedup(Lane lane) throws IOException {
    String session = lane.session().id();
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      DedupKey key = new DedupKey(lane.random.nextLong(), i);
      SharedClaim claim = new SharedClaim(new Worker(session, i, lane.turn), 1, 86_400_000, 1);
      steps.add(new Step(Step.Kind.ENQUEUE, key, claim));
    }
    lane.session()
        .request(
            Addresses.DEDUP_STEPS,
            new Bytes().text(session).raw(SharedCodec.steps(steps)).toArray());
  }

  private static void errorText(Lane lane) throws IOException {
    String error = "e".repeat(100_000);
    if (lane.turn % 2 == 0) {
      List<Outcome> outcomes = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        outcomes.add(
            new Outcome.Failed(i, 1, Outcome.Way.MOVED, 1_000, 7, error, new byte[10_000]));
      }
      lane.control(
          Calls.SUBMIT_DATA,
          new Calls.ToGroup(
              0,
              new DataCommand.RecordOutcomes(
                  "evil", new Shard(lane.target().topic("evil"), 0), 1, outcomes)));
    } else {
      JsonObject place =
          JsonObject.of("topic", "evil", "shard", 0, "offset", 0, "epoch", 1, "error", error);
      lane.ask(
          "POST",
          "/api/groups/evil/sessions/0123.4567/results",
          JsonObject.of("done", new JsonArray(), "failed", JsonArray.of(place)));
    }
  }
}
