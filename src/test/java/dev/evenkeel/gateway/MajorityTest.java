package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Views;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.Checkpoint;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is told of a request that nobody could serve. */
@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class MajorityTest {
  private final ClusterView view =
      Views.of("n1", null, new ArrayList<>(List.of("n1")), List.of("n1", "n2", "n3"), List.of());
  private FakeLink link;
  private Future<ClusterView> looked = Future.succeededFuture(view);

  @BeforeEach
  void connect(Vertx vertx) {
    link = new FakeLink(vertx);
  }

  private void answers(String node) {
    link.serve(
        Addresses.control(node),
        request -> Future.succeededFuture(Frames.answer(new Bytes(1).u8(1).view())));
  }

  /** What is told of this refusal is that. */
  private void explains(
      VertxTestContext test,
      Checkpoint explained,
      Refusal refusal,
      String detail,
      String expected) {
    new Majority(link, () -> looked)
        .explain(new RefusedException(refusal, detail), "meta")
        .onComplete(
            test.succeeding(
                told ->
                    test.verify(
                        () -> {
                          assertThat(told).hasToString(expected);
                          explained.flag();
                        })));
  }

  @Test
  void withoutAMajorityItCountsTheVotersAndNamesThoseThatAreMissing(VertxTestContext test) {
    answers("n1");
    Checkpoint explained = test.checkpoint(4);
    String missing =
        "log group meta has no majority: 1 of 3 voters answers (n1), and 2 are needed. Start n2, n3,"
            + " or reconnect them";
    for (String detail : List.of("", "n2")) {
      explains(test, explained, Refusal.NOT_LEADER, detail, "UNAVAILABLE: " + missing);
    }
    explains(
        test, explained, Refusal.UNAVAILABLE, "node n2 is not there", "UNAVAILABLE: " + missing);
    explains(
        test,
        explained,
        Refusal.INDETERMINATE,
        "not acknowledged within 20000 ms",
        "INDETERMINATE: not acknowledged within 20000 ms; " + missing);
  }

  @Test
  void withAMajorityItSaysThatALeaderIsElectedOrWhatItWas(VertxTestContext test) {
    answers("n1");
    answers("n3");
    Checkpoint explained = test.checkpoint(3);
    explains(
        test,
        explained,
        Refusal.NOT_LEADER,
        "",
        "UNAVAILABLE: log group meta has no leader at the moment, although 2 of 3 voters answer: one"
            + " is being elected, try again");
    explains(test, explained, Refusal.UNAVAILABLE, "it stops", "UNAVAILABLE: it stops");
    explains(test, explained, Refusal.UNKNOWN_GROUP, "no 'g'", "UNKNOWN_GROUP: no 'g'");
  }

  @Test
  void ifNobodyCanBeAskedTheFailureHasWordsAllTheSame(VertxTestContext test) {
    looked = Future.failedFuture("nobody");
    explains(
        test,
        test.checkpoint(),
        Refusal.NOT_LEADER,
        "",
        "UNAVAILABLE: " + Refusal.NOT_LEADER.usualWords());
  }
}
