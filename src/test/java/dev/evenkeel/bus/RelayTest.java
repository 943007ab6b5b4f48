package dev.evenkeel.bus;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RelayTest {
  private static final long LONG_MILLIS = 60_000;

  @Closing private final Vertx vertx = Vertx.vertx();
  private final VertxLink link = new VertxLink(vertx, null);

  @BeforeEach
  void serve() {
    await(Relay.serve(vertx, "n1").completion());
  }

  private Future<Buffer> ask(String address, long millis) {
    return Relay.ask(vertx, "n1", address, Buffer.buffer("question"), millis);
  }

  @Test
  void aMemberIsAskedByWayOfItsNode() {
    await(
        link.serve(
                Addresses.level("m"),
                body -> Future.succeededFuture(Buffer.buffer("answer to " + body)))
            .registered());
    assertThat(await(ask(Addresses.level("m"), LONG_MILLIS))).hasToString("answer to question");
  }

  @Test
  void theFailuresAreThoseOfTheMember() {
    assertRefused(Refusal.UNAVAILABLE, ask(Addresses.level("nobody"), LONG_MILLIS));
    await(
        link.serve(
                Addresses.level("silent"), body -> io.vertx.core.Promise.<Buffer>promise().future())
            .registered());
    assertRefused(Refusal.INDETERMINATE, ask(Addresses.level("silent"), 50));
    assertRefused(
        Refusal.UNAVAILABLE,
        Relay.ask(vertx, "n2", Addresses.level("m"), Buffer.buffer(), LONG_MILLIS));
  }

  @Test
  void onlyMembersAreReached() {
    await(link.serve(Addresses.control("n1"), body -> Future.succeededFuture(body)).registered());
    assertRefused(Refusal.UNAVAILABLE, ask(Addresses.control("n1"), LONG_MILLIS));
  }

  private static void assertRefused(Refusal refusal, Future<Buffer> answer) {
    Refused.with(refusal, () -> await(answer));
  }
}
