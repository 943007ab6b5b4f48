package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.client.ConsumerOptions;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How much memory messages may take that wait in sessions. */
class SessionRoomTest {
  private static final long ALL = 128L << 20;

  @Closing private final Vertx vertx = Vertx.vertx();
  private final FairShare share = Shares.of(vertx).divide(Scarce.SESSION_BYTES, ALL);
  private final SessionRoom room = new SessionRoom(share);

  private static int pending(SessionRoom.Room of) {
    return of.limit(new ConsumerOptions()).getPendingBytesMax();
  }

  private List<SessionRoom.Room> open(String user, int count) {
    List<SessionRoom.Room> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(room.take(user));
    }
    return all;
  }

  @Test
  void fewSessionsGetMuchAndManyDoNotFillTheHeap() {
    List<SessionRoom.Room> all = open("greedy", SessionsApi.SESSIONS_MAX);
    assertThat(pending(all.get(0))).isGreaterThan(1 << 20);
    assertThat(pending(all.get(999))).isGreaterThanOrEqualTo(SessionRoom.LEAST);
    long sum = all.stream().mapToLong(SessionRoomTest::pending).sum();
    assertThat(sum).isLessThan(ALL / 2 + (long) SessionRoom.LEAST * SessionsApi.SESSIONS_MAX);
    assertThat(pending(room.take("shop"))).as("another user").isGreaterThan(1 << 20);
    all.forEach(SessionRoom.Room::give);
    all.forEach(SessionRoom.Room::give);
    assertThat(share.usage()).containsOnlyKeys("shop");
  }

  @Test
  void withoutUsersAllTogetherGetAllOfIt() {
    List<SessionRoom.Room> all = open(null, SessionsApi.SESSIONS_MAX);
    assertThat(share.held()).isBetween(ALL / 2, ALL);
    all.forEach(SessionRoom.Room::give);
    assertThat(share.held()).isZero();
  }

  @Test
  void nobodyGetsMoreThanItAskedFor() {
    ConsumerOptions options = room.take(null).limit(new ConsumerOptions().setPendingBytesMax(9));
    assertThat(options.getPendingBytesMax()).isEqualTo(9);
    assertThat(options.getFetchBytesMax()).isLessThanOrEqualTo(1 << 20);
  }
}
