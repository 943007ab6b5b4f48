package dev.evenkeel.gateway.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.gateway.session.SessionAddresses.Answerer;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.buffer.Buffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SessionAddressesTest {
  private static final Buffer NO_BODY = Buffer.buffer();

  private final SessionAddresses addresses = new SessionAddresses("n.1");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evenkeel.node.n.1.data",
        "evenkeel.node.n.1.control",
        "evenkeel.node.n.1.dispatcher",
        "evenkeel.node.n.1.dealer",
        "evenkeel.node.n.1.groups",
        Addresses.VIEW,
        "evenkeel.dedup.steps",
        "evenkeel.dedup.tell"
      })
  void thisNodeAnswersForItself(String address) {
    assertThat(addresses.answerer(address, NO_BODY)).isEqualTo(Answerer.HERE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        Addresses.API_PRODUCE,
        Addresses.API_TOPICS,
        Addresses.API_MESSAGES,
        Addresses.API_GROUPS,
        Addresses.API_CLUSTER
      })
  void theGatewayOfThisNodeAnswersJson(String address) {
    assertThat(addresses.answerer(address, NO_BODY)).isEqualTo(Answerer.GATEWAY);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evenkeel.node.n.2.data",
        "evenkeel.node.n.data",
        "evenkeel.node.n.11.control",
        "evenkeel.node.1.groups"
      })
  void otherNodesAnswerForThemselves(String address) {
    assertThat(addresses.answerer(address, NO_BODY)).isEqualTo(Answerer.ELSEWHERE);
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
        "evenkeel.node.n.1.membership",
        "evenkeel.node.n.1.sessions",
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
    refused(() -> addresses.answerer(address, NO_BODY), address);
  }

  @ParameterizedTest
  @EnumSource(Op.class)
  void whatNodesAskEachOtherIsRefusedAtControl(Op op) {
    Buffer request = Frames.request(op, new Bytes().i32(0));
    switch (op) {
      case MANAGE_SHARDS, READ_BODY, READ_LOGS -> {
        refused(() -> addresses.answerer("evenkeel.node.n.1.control", request), op.name());
        refused(() -> addresses.answerer("evenkeel.node.n2.control", request), op.name());
      }
      default ->
          assertThat(addresses.answerer("evenkeel.node.n.1.control", request))
              .isEqualTo(Answerer.HERE);
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
      assertThatCode(() -> SessionAddresses.checkListening(address, "s-1"))
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
        "evenkeel.api.produce"
      })
  void aSessionListensToNothingElse(String address) {
    refused(() -> SessionAddresses.checkListening(address, "s-1"), address);
  }

  private static void refused(Runnable check, String word) {
    assertThatThrownBy(check::run)
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> {
              assertThat(refused.refusal()).isEqualTo(Refusal.INVALID);
              assertThat(refused).hasMessageContaining(word);
            });
  }
}
