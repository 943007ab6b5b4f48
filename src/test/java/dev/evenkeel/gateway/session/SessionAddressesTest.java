package dev.evenkeel.gateway.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Permission;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.KnownIds;
import dev.evenkeel.bus.Op;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.gateway.access.SessionRules;
import dev.evenkeel.gateway.session.SessionAddresses.Answerer;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SessionAddressesTest {
  private static final Buffer NO_BODY = Buffer.buffer();

  private final SessionAddresses addresses =
      new SessionAddresses("n.1", new SessionRules(new NoIds()));

  /** A node that knows no id, which no request here needs. */
  private static final class NoIds implements KnownIds {
    @Override
    public Quota groupRate(String group) {
      return null;
    }

    @Override
    public String topic(int id) {
      throw KnownIds.unheard("topic", id);
    }

    @Override
    public String producer(long id) {
      throw KnownIds.unheard("producer", id);
    }

    @Override
    public boolean isForgotten(long producer, int epoch) {
      return false;
    }

    @Override
    public List<String> groups(int tag) {
      return List.of();
    }

    @Override
    public int featureLevel() {
      return 1;
    }
  }

  private Answerer answerer(String address, Buffer body) {
    return addresses.answerer(Principal.ANYBODY, "s-1", address, body);
  }

  /** A request that sessions may send to the address. */
  private static Buffer request(String address) {
    if (address.endsWith(".dealer")) {
      return Frames.request(Op.LEVEL_REPORT, new Bytes());
    }
    return address.startsWith("evenkeel.dedup.")
        ? Buffer.buffer(new Bytes().text("s-1").text("d").toArray())
        : Frames.request(Op.BROWSE, new Bytes());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evenkeel.node.n.1.data",
        "evenkeel.node.n.1.control",
        "evenkeel.node.n.1.dispatcher",
        "evenkeel.node.n.1.dealer",
        Addresses.VIEW,
        "evenkeel.dedup.steps",
        "evenkeel.dedup.claims",
        "evenkeel.dedup.tell"
      })
  void thisNodeAnswersForItself(String address) {
    assertThat(answerer(address, request(address))).isEqualTo(Answerer.HERE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ApiAddresses.PRODUCE,
        ApiAddresses.TOPICS,
        ApiAddresses.MESSAGES,
        ApiAddresses.DELAYED,
        ApiAddresses.GROUPS,
        ApiAddresses.CLUSTER,
        ApiAddresses.QUOTAS
      })
  void theGatewayOfThisNodeAnswersJson(String address) {
    assertThat(answerer(address, NO_BODY)).isEqualTo(Answerer.HERE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evenkeel.node.n.2.data",
        "evenkeel.node.n.data",
        "evenkeel.node.n.11.control",
        "evenkeel.node.1.dispatcher"
      })
  void otherNodesAnswerForThemselves(String address) {
    assertThat(answerer(address, request(address))).isEqualTo(Answerer.ELSEWHERE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "evenkeel",
        "evenkeel.node",
        "evenkeel.node.",
        "evenkeel.node..data",
        "evenkeel.node.data",
        "evenkeel.node.n.1.",
        "evenkeel.node.n.1.Data",
        "evenkeel.api",
        "evenkeel.api.other",
        "evenkeel.leaders",
        "evenkeel.leases",
        "evenkeel.topics.changed",
        "evenkeel.sessions.ended",
        "evenkeel.member.m",
        "evenkeel.dedup.s-1",
        "__vertx.reply.1",
        "orders.in"
      })
  void nothingElseIsForSessions(String address) {
    refused(() -> answerer(address, NO_BODY), Refusal.INVALID, address);
  }

  @ParameterizedTest
  @ValueSource(strings = {"membership", "sessions"})
  void whatNodesAskEachOtherIsForbidden(String service) {
    String address = "evenkeel.node.n.1." + service;
    refused(() -> answerer(address, NO_BODY), Refusal.FORBIDDEN, address);
  }

  @Test
  void aSessionAsksNothingAboutGroupsButToUnsubscribe() {
    String address = "evenkeel.node.n.1.groups";
    String unsubscribe = "{\"forget\":{\"group\":\"g\",\"topic\":\"t\",\"leaver\":\"m\"}}";
    assertThat(answerer(address, Buffer.buffer(unsubscribe))).isEqualTo(Answerer.HERE);
    Principal other = new Principal("u", List.of(Permission.parse("group:h")));
    refused(
        () -> addresses.answerer(other, "s-1", address, Buffer.buffer(unsubscribe)),
        Refusal.FORBIDDEN,
        "group:g");
    for (String question :
        List.of(
            "{}",
            "{\"group\":\"g\"}",
            "{\"live\":null}",
            "{\"reset\":{},\"forget\":{\"group\":\"g\",\"topic\":\"t\",\"leaver\":\"m\"}}",
            "{\"forget\":{\"group\":\"g\",\"topic\":\"t\"}}",
            "{\"forget\":{\"group\":\"g\",\"leaver\":\"m\"}}")) {
      refused(() -> answerer(address, Buffer.buffer(question)), Refusal.FORBIDDEN, "groups");
    }
  }

  @Test
  void aSessionTakesDedupStepsForItselfOnly() {
    Buffer ofAnother = Buffer.buffer(new Bytes().text("s-2").view().array());
    refused(() -> answerer(Addresses.DEDUP_STEPS, ofAnother), Refusal.FORBIDDEN, "s-2");
  }

  @Test
  void aSessionAsksWhetherItIsAliveForItselfAndItsDedups() {
    Buffer ofAnother = Buffer.buffer(new Bytes().text("s-2").text("").toArray());
    refused(() -> answerer(Addresses.DEDUP_HEARD, ofAnother), Refusal.FORBIDDEN, "s-2");
    Principal user = new Principal("u", List.of(Permission.parse("group:g")));
    for (String service : List.of("", "g")) {
      Buffer own = Buffer.buffer(new Bytes().text("s-1").text(service).toArray());
      addresses.answerer(user, "s-1", Addresses.DEDUP_HEARD, own);
    }
    Buffer other = Buffer.buffer(new Bytes().text("s-1").text("h").toArray());
    refused(
        () -> addresses.answerer(user, "s-1", Addresses.DEDUP_HEARD, other),
        Refusal.FORBIDDEN,
        "group:h");
  }

  @ParameterizedTest
  @EnumSource(Op.class)
  void whatClientsDoNotNeedIsForbidden(Op op) {
    Set<Op> control = Set.of(Op.READ_LEASE, Op.BROWSE, Op.FIND_OFFSET, Op.FETCH_RETRIES);
    Set<Op> data = Set.of(Op.APPEND, Op.FETCH, Op.FETCH_MANY, Op.BROWSE, Op.AWAIT_REPLICAS);
    Buffer request = Frames.request(op, new Bytes().i32(0));
    for (String node : List.of("n.1", "n2")) {
      String address = "evenkeel.node." + node;
      if (control.contains(op)) {
        answerer(address + ".control", request);
      } else if (op != Op.SUBMIT_DATA && op != Op.SUBMIT_META && op != Op.RESERVE) {
        refused(() -> answerer(address + ".control", request), Refusal.FORBIDDEN, op.name());
      }
      if (data.contains(op)) {
        answerer(address + ".data", request);
      } else {
        refused(() -> answerer(address + ".data", request), Refusal.FORBIDDEN, op.name());
      }
    }
  }

  @Test
  void aSessionListensToWhatIsForAllAndForItself() {
    for (String address :
        new String[] {
          Addresses.LEADER_CHANGES,
          Addresses.TOPIC_CHANGES,
          Addresses.member("2c5d-aa_1"),
          Addresses.level("2c5d-aa_1"),
          Addresses.dedup("s-1")
        }) {
      assertThatCode(() -> SessionAddresses.checkListening(Principal.ANYBODY, address, "s-1"))
          .as(address)
          .doesNotThrowAnyException();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "evenkeel.view",
        "evenkeel.leases",
        "evenkeel.sessions.ended",
        "evenkeel.node.n.1.data",
        "evenkeel.member",
        "evenkeel.member.",
        "evenkeel.member..level",
        "evenkeel.member.a.b",
        "evenkeel.member.a.level.level",
        "evenkeel.dedup.s-2",
        "evenkeel.dedup.steps",
        "evenkeel.dedup.claims",
        "evenkeel.api.produce"
      })
  void aSessionListensToNothingElse(String address) {
    refused(
        () -> SessionAddresses.checkListening(Principal.ANYBODY, address, "s-1"),
        Refusal.INVALID,
        address);
  }

  private static void refused(Runnable check, Refusal why, String word) {
    assertThatThrownBy(check::run)
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> {
              assertThat(refused.refusal()).isEqualTo(why);
              assertThat(refused).hasMessageContaining(word);
            });
  }

  @Test
  void whoMayBeInNoGroupListensAtNoAddressOfMembers() {
    Principal nobody = new Principal("nobody", List.of(Permission.parse("view:zzz")));
    Principal member = new Principal("member", List.of(Permission.parse("group:g")));
    for (String address : List.of("evenkeel.member.i-1", Addresses.dedup("s-1"))) {
      refused(
          () -> SessionAddresses.checkListening(nobody, address, "s-1"),
          Refusal.FORBIDDEN,
          "group:");
      SessionAddresses.checkListening(member, address, "s-1");
    }
    SessionAddresses.checkListening(nobody, Addresses.TOPIC_CHANGES, "s-1");
  }

  /** As over HTTP: whoever sees all topics and groups may not read their messages for that. */
  @Test
  void whoSeesEverythingReadsNoDeadLetters() {
    assertThat(SessionAddresses.isApi(ApiAddresses.GROUPS)).isTrue();
    JsonObject asked = JsonObject.of("action", "dead-letters", "group", "billing");
    Buffer answer = new JsonArray().add(JsonObject.of("topic", "t", "payload", "p")).toBuffer();
    for (String may : List.of("admin:*", "view:*", "admin:billing")) {
      Principal principal = new Principal("user", List.of(Permission.parse(may)));
      Buffer seen = SessionAddresses.visible(principal, ApiAddresses.GROUPS, () -> asked, answer);
      assertThat(new JsonArray(seen).getJsonObject(0).getValue("payload")).as(may).isNull();
    }
    Principal reads = new Principal("user", List.of(Permission.parse("group:billing")));
    for (Principal each : List.of(reads, Principal.ANYBODY)) {
      Buffer seen = SessionAddresses.visible(each, ApiAddresses.GROUPS, () -> asked, answer);
      assertThat(new JsonArray(seen).getJsonObject(0).getString("payload")).isEqualTo("p");
    }
  }
}
