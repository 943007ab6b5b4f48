package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What is told of a request that nobody could serve. */
class MajorityTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final ClusterView view =
      Views.of("n1", null, new ArrayList<>(List.of("n1")), List.of("n1", "n2", "n3"), List.of());
  private Future<ClusterView> looked = Future.succeededFuture(view);

  private void answers(String node) {
    link.serve(
        Addresses.control(node),
        request -> Future.succeededFuture(Frames.answer(new Bytes(1).u8(1).view())));
  }

  private RefusedException explain(Refusal refusal, String detail) throws Exception {
    return new Majority(link, () -> looked)
        .explain(new RefusedException(refusal, detail), "meta")
        .toCompletionStage()
        .toCompletableFuture()
        .get(20, TimeUnit.SECONDS);
  }

  @Test
  void withoutAMajorityItCountsTheVotersAndNamesThoseThatAreMissing() throws Exception {
    answers("n1");
    for (String detail : List.of("", "n2", "node n2 is not there")) {
      assertThat(explain(detail.length() > 2 ? Refusal.UNAVAILABLE : Refusal.NOT_LEADER, detail))
          .hasToString(
              "UNAVAILABLE: log group meta has no majority: 1 of 3 voters answers (n1), and 2 are"
                  + " needed. Start n2, n3, or reconnect them");
    }
    assertThat(explain(Refusal.INDETERMINATE, "not acknowledged within 20000 ms"))
        .hasToString(
            "INDETERMINATE: not acknowledged within 20000 ms; log group meta has no majority: 1 of"
                + " 3 voters answers (n1), and 2 are needed. Start n2, n3, or reconnect them");
  }

  @Test
  void withAMajorityItSaysThatALeaderIsElectedOrWhatItWas() throws Exception {
    answers("n1");
    answers("n3");
    assertThat(explain(Refusal.NOT_LEADER, ""))
        .hasToString(
            "UNAVAILABLE: log group meta has no leader at the moment, although 2 of 3 voters"
                + " answer: one is being elected, try again");
    assertThat(explain(Refusal.UNAVAILABLE, "it stops")).hasToString("UNAVAILABLE: it stops");
    assertThat(explain(Refusal.UNKNOWN_GROUP, "no 'g'")).hasToString("UNKNOWN_GROUP: no 'g'");
  }

  @Test
  void ifNobodyCanBeAskedTheFailureHasWordsAllTheSame() throws Exception {
    looked = Future.failedFuture("nobody");
    assertThat(explain(Refusal.NOT_LEADER, ""))
        .hasToString("UNAVAILABLE: " + Refusal.NOT_LEADER.usualWords());
  }
}
