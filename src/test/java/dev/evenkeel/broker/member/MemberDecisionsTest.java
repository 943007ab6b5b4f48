package dev.evenkeel.broker.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.log.Follower;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MemberDecisionsTest {
  private static final List<String> NODES = List.of("n1", "n2", "n3");
  private static final List<String> VOTERS = List.of("n1@a", "n2@b", "n3@c");

  @Test
  void aCardIsReadAsItWasTold() {
    for (String cluster : new String[] {null, "id"}) {
      Peer peer =
          new Peer(
              new NodeInfo("n2", "b", Stage.WAITING, cluster, VOTERS, NODES, 3),
              true,
              false,
              Set.of("d0", "meta"));
      assertThat(RecordJson.of(Peer.class).read(new JsonObject(RecordJson.json(peer).encode())))
          .isEqualTo(peer);
    }
  }

  @Test
  void onlyAnEmptyNodeUnderTheLostOnesNameReplacesIt() {
    assertRefused("n9", null, Refusal.INVALID, "there is no node 'n9': the nodes are [n1, n2, n3]");
    assertRefused("n2", null, Refusal.UNAVAILABLE, "start it with an empty data directory first");
    assertRefused("n2", info("b", Stage.EMPTY), Refusal.UNAVAILABLE, "no empty node is waiting");
    assertRefused("n2", info("b", Stage.FORMED), Refusal.INVALID, "is alive and has its data");
    assertRefused("n2", other(), Refusal.INVALID, "the data of another cluster");
    assertThatCode(() -> check("n2", info("new", Stage.WAITING))).doesNotThrowAnyException();
  }

  @Test
  void oneThatWasTakenInHalfWayIsTakenInAgain() {
    Peer half = info("new", Stage.FORMED);
    // Some groups have it, one still has the lost one.
    assertThatCode(
            () ->
                Replacement.check(
                    "n2", NODES, "id", half, List.of("n1@a", "n2@b", "n2@new"), List.of("n1@a")))
        .doesNotThrowAnyException();
    Fails.saying(
        () ->
            Replacement.check(
                "n2", NODES, "id", half, List.of("n1@a", "n2@new"), List.of("n1@a", "n2@new")),
        "alive and has its data");
  }

  @Test
  void whoStopsGivesToTheOneThatServesAndHasMost() {
    List<Follower> followers =
        List.of(
            new Follower("n1", 10, 100), new Follower("n2", 9, 100), new Follower("n3", 12, 9_000));
    Peer plain = new Peer(info("b", Stage.FORMED).info(), false, true, Set.of());
    Peer full = new Peer(info("b", Stage.FORMED).info(), true, true, Set.of());
    assertThat(Handover.successors("d0", followers, Map.of("n1", plain, "n2", full)))
        .containsExactly("n1", "n2");
    assertThat(Handover.successors("meta", followers, Map.of("n1", plain, "n2", full)))
        .containsExactly("n2", "n1");
    assertThat(Handover.successors("d0", followers, Map.of("n2", plain)))
        .containsExactly("n2", "n1");
    Peer unfit = new Peer(info("b", Stage.FORMED).info(), true, true, Set.of("d0"));
    assertThat(Handover.successors("d0", followers, Map.of("n1", unfit, "n2", full)))
        .containsExactly("n2", "n1");
    assertThat(Handover.successors("d0", List.of(), Map.of())).isEmpty();
  }

  private static Peer info(String incarnation, Stage stage) {
    return new Peer(
        new NodeInfo("n2", incarnation, stage, "id", VOTERS, NODES, 3), true, true, Set.of());
  }

  private static Peer other() {
    return new Peer(
        new NodeInfo("n2", "b", Stage.FORMED, "other", VOTERS, NODES, 3), true, true, Set.of());
  }

  private static void check(String node, Peer answer) {
    Replacement.check(node, NODES, "id", answer, VOTERS, VOTERS);
  }

  private static void assertRefused(String node, Peer answer, Refusal refusal, String part) {
    Refused.saying(() -> check(node, answer), part)
        .satisfies(e -> assertThat(((RefusedException) e).refusal()).isEqualTo(refusal));
  }
}
