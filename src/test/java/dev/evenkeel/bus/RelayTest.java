package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.junit5.Checkpoint;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class RelayTest {
  private static final long LONG_MILLIS = 60_000;

  private Vertx vertx;
  private VertxLink link;

  @BeforeEach
  void serve(Vertx vertx, VertxTestContext test) {
    this.vertx = vertx;
    link = new VertxLink(vertx, null);
    Relay.serve(vertx, "n1").completion().onComplete(test.succeedingThenComplete());
  }

  private Future<Buffer> ask(String address, long millis) {
    return Relay.ask(vertx, "n1", address, Buffer.buffer("question"), millis);
  }

  @Test
  void aMemberIsAskedByWayOfItsNode(VertxTestContext test) {
    link.serve(
            Addresses.level("m"),
            body -> Future.succeededFuture(Buffer.buffer("answer to " + body)))
        .registered()
        .compose(served -> ask(Addresses.level("m"), LONG_MILLIS))
        .onComplete(
            test.succeeding(
                answer ->
                    test.verify(
                        () -> {
                          assertThat(answer).hasToString("answer to question");
                          test.completeNow();
                        })));
  }

  @Test
  void theFailuresAreThoseOfTheMember(VertxTestContext test) {
    Checkpoint refused = test.checkpoint(3);
    assertRefused(Refusal.UNAVAILABLE, ask(Addresses.level("nobody"), LONG_MILLIS), test, refused);
    Future<Void> silent =
        link.serve(Addresses.level("silent"), body -> Promise.<Buffer>promise().future())
            .registered();
    assertRefused(
        Refusal.INDETERMINATE,
        silent.compose(served -> ask(Addresses.level("silent"), 50)),
        test,
        refused);
    assertRefused(
        Refusal.UNAVAILABLE,
        Relay.ask(vertx, "n2", Addresses.level("m"), Buffer.buffer(), LONG_MILLIS),
        test,
        refused);
  }

  @Test
  void onlyMembersAreReached(VertxTestContext test) {
    Future<Void> served =
        link.serve(Addresses.control("n1"), body -> Future.succeededFuture(body)).registered();
    assertRefused(
        Refusal.UNAVAILABLE,
        served.compose(done -> ask(Addresses.control("n1"), LONG_MILLIS)),
        test,
        test.checkpoint());
  }

  private static void assertRefused(
      Refusal refusal, Future<Buffer> answer, VertxTestContext test, Checkpoint done) {
    answer.onComplete(
        test.failing(
            failure ->
                test.verify(
                    () -> {
                      Refused.is(refusal, failure);
                      done.flag();
                    })));
  }
}
