package dev.evenkeel.gateway.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.bus.frame.FrameRoom;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.gateway.session.Sessions.Session;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class SessionsTest {
  @Closing private final Vertx vertx = Vertx.vertx();

  private final Sessions sessions =
      new Sessions(
          new SessionOptions(
              new JsonObject()
                  .put("connectionsMax", 3)
                  .put("bodyBytesMax", 4_096)
                  .put("requestsInFlightMax", 2)
                  .put("sessionBytesInFlightMax", 6_000)
                  .put("nodeBytesInFlightMax", 11_000)),
          Shares.of(vertx));

  private Session session(String id) {
    sessions.came();
    return sessions.welcomed(id, null);
  }

  private static void reached(Limit limit, String value, Runnable action) {
    assertThatThrownBy(action::run)
        .isInstanceOfSatisfying(
            Limit.Reached.class, refused -> assertThat(refused.limit()).isEqualTo(limit))
        .hasMessageContaining(value);
  }

  @Test
  void aSessionIsThereAsLongAsOneOfItsConnections() {
    Session first = session("s");
    Session second = session("s");
    assertThat(second).isSameAs(first);
    assertThat(sessions.sessions()).isEqualTo(1);
    assertThat(sessions.connections()).isEqualTo(2);
    assertThat(sessions.left(first)).isFalse();
    assertThat(sessions.has("s")).isTrue();
    assertThat(sessions.left(second)).isTrue();
    assertThat(sessions.has("s")).isFalse();
    assertThat(sessions.connections()).isZero();
  }

  @Test
  void connectionsAreLimited() {
    session("a");
    session("b");
    sessions.came();
    reached(Limit.CONNECTIONS, "3 connections", sessions::came);
    sessions.left();
    sessions.came();
    assertThat(sessions.connections()).isEqualTo(3);
  }

  @Test
  void aUserHasHalfOfTheConnections() {
    sessions.came();
    sessions.came();
    sessions.came();
    Session many = sessions.welcomed("a", "many");
    sessions.welcomed("a", "many");
    reached(Limit.CONNECTIONS, "'many' has 2 of the 3 ", () -> sessions.welcomed("a", "many"));
    Session one = sessions.welcomed("b", "one");
    assertThat(sessions.left(one)).isTrue();
    assertThat(sessions.left(many)).isFalse();
    sessions.came();
    assertThat(sessions.welcomed("a", "many")).isSameAs(many);
    Refused.with(Refusal.FORBIDDEN, () -> sessions.welcomed("a", "one"));
    assertThat(sessions.left(sessions.welcomed("b", "one"))).as("it holds nothing").isTrue();
  }

  @Test
  void aUserHasHalfOfTheBytes() {
    sessions.came();
    sessions.came();
    Session many = sessions.welcomed("a", "many");
    Session one = sessions.welcomed("b", "one");
    many.take(5_500);
    reached(Limit.NODE_BYTES, "'many' has 5500 of the 11000 bytes", () -> many.take(1));
    one.take(2_750);
    reached(Limit.NODE_BYTES, "'one' has 2750 ", () -> one.take(1));
    many.give(5_500);
    one.take(2_750);
    FrameRoom room = many.room();
    room.take(5_500);
    reached(Limit.ARRIVING_BYTES, "'many'", () -> room.take(1));
    one.room().take(2_000);
    room.give(5_500);
    assertThat(sessions.arrivingBytes()).isEqualTo(2_000);
  }

  @Test
  void requestsOfASessionAreLimited() {
    Session session = session("a");
    session.request(10);
    session.request(10);
    reached(Limit.REQUESTS, "2 requests", () -> session.request(10));
    session("b").request(10);
    session.requestDone(10);
    session.request(10);
    assertThat(sessions.requestsInFlight()).isEqualTo(3);
    assertThat(sessions.bytesInFlight()).isEqualTo(3 * (10 + 1_024));
  }

  @Test
  void requestsThatHaveNotComeWholeMayTakeAsMuchAsThoseInFlight() {
    sessions.take(11_000);
    reached(Limit.ARRIVING_BYTES, "11000 bytes", () -> sessions.take(1));
    session("a").request(4_000);
    sessions.give(11_000);
    assertThat(sessions.arrivingBytes()).isZero();
  }

  @Test
  void bytesOfASessionAndOfTheNodeAreLimitedAndARefusedRequestCountsNowhere() {
    Session a = session("a");
    Session b = session("b");
    a.request(4_000);
    reached(Limit.SESSION_BYTES, "6000 bytes", () -> a.request(2_001));
    b.request(3_000);
    // Each request counts 1,024 bytes more on the node.
    reached(Limit.NODE_BYTES, "11000 bytes", () -> a.request(1_500));
    assertThat(sessions.requestsInFlight()).isEqualTo(2);
    assertThat(sessions.bytesInFlight()).isEqualTo(9_048);
    reached(Limit.NODE_BYTES, "11000 bytes", () -> a.take(1_953));
    a.take(1_952);
    a.give(1_952);
    b.requestDone(3_000);
    a.request(1_500);
    a.requestDone(4_000);
    a.requestDone(1_500);
    assertThat(sessions.requestsInFlight()).isZero();
    assertThat(sessions.bytesInFlight()).isZero();
  }

  @Test
  void aSessionBelongsToTheUserWhoBeganIt() {
    sessions.came();
    sessions.welcomed("a", "shop");
    sessions.came();
    Refused.with(Refusal.FORBIDDEN, () -> sessions.welcomed("a", "other"), "another user");
    sessions.welcomed("a", "shop");
  }
}
