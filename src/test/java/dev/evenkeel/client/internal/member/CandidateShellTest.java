package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.ElectionOptions;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A whole candidate on a plain Vert.x, with a cluster that is faked behind its link. */
class CandidateShellTest {
  private final Vertx vertx = Vertx.vertx();
  private final FakeCluster cluster = new FakeCluster(vertx, 1);
  private final ClusterDirectory directory = new ClusterDirectory(cluster);
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private final AtomicInteger executes = new AtomicInteger();

  private final ElectionCareer career =
      new ElectionCareer() {
        @Override
        public Future<Void> inaugurate(LeaderContext context) {
          calls.add("inaugurate " + context.term());
          return Future.succeededFuture();
        }

        @Override
        public Future<Void> execute(LeaderContext context) {
          executes.incrementAndGet();
          return Future.succeededFuture();
        }

        @Override
        public Future<Void> handOver(LeaderContext context) {
          calls.add("handOver " + context.term());
          return Future.succeededFuture();
        }

        @Override
        public void lost(LeaderContext context) {
          calls.add("lost " + context.term());
        }
      };

  @AfterEach
  void close() {
    directory.close();
    await(vertx.close());
  }

  private Future<Candidate> joining() {
    ElectionOptions options =
        new ElectionOptions()
            .setName("g")
            .setMember("m")
            .setPauseMillis(1)
            .setLockTimeMillis(2_000);
    return Consumers.candidate(cluster, directory, options, career);
  }

  private void works() {
    int before = executes.get();
    Wait.until("it works", () -> executes.get() > before + 3);
  }

  private Candidate leading(long term) {
    Candidate candidate = await(joining());
    cluster.lead(new Assignment.Lead(term, true, false));
    works();
    assertThat(candidate.isLeading()).isTrue();
    return candidate;
  }

  private Heartbeat lastHeartbeat() {
    List<Heartbeat> all = cluster.heartbeats();
    return all.get(all.size() - 1);
  }

  @Test
  void itSaysThatItHasHandedOverAndLeaves() {
    Candidate candidate = leading(7);
    assertThat(lastHeartbeat().topics()).isEmpty();
    candidate.resign();
    Wait.until("it says so", () -> lastHeartbeat().handedOverTerm() == 7);
    assertThat(lastHeartbeat().resignedTerm()).isEqualTo(7);
    assertThat(candidate.isLeading()).isFalse();
    cluster.lead(new Assignment.Lead(8, true, false));
    works();
    await(candidate.close());
    assertThat(lastHeartbeat().leaving()).isTrue();
    assertThat(lastHeartbeat().handedOverTerm()).isEqualTo(8);
    assertThat(calls).containsExactly("inaugurate 7", "handOver 7", "inaugurate 8", "handOver 8");
  }

  @Test
  void withoutAConnectionNothingBeginsAndAfterwardsItGoesOn() {
    Candidate candidate = leading(7);
    cluster.become(Link.State.LOST);
    Wait.until("it knows", () -> !candidate.isLeading());
    assertThat(candidate.leadership().isOver()).isFalse();
    cluster.become(Link.State.CONNECTED);
    works();
    assertThat(candidate.isLeading()).isTrue();
    assertThat(calls).containsExactly("inaugurate 7");
    await(candidate.close());
  }

  @Test
  void whoClosesWithoutAConnectionHasLostTheTerm() {
    Candidate candidate = leading(7);
    cluster.become(Link.State.LOST);
    await(candidate.close());
    assertThat(calls).containsExactly("inaugurate 7", "lost 7");
    assertThat(candidate.leadership()).isNull();
  }

  @Test
  void whoIsReplacedHasLostTheTermAndEnds() {
    Candidate candidate = leading(7);
    List<Throwable> ends = new CopyOnWriteArrayList<>();
    candidate.onEnd(ends::add);
    cluster.refuseHeartbeats(Refusal.MEMBER_REPLACED.error("another"));
    Wait.until("it has ended", () -> !ends.isEmpty());
    assertThat(RefusedException.of(ends.get(0)).refusal()).isEqualTo(Refusal.MEMBER_REPLACED);
    assertThat(calls).containsExactly("inaugurate 7", "lost 7");
    await(candidate.close());
  }

  @Test
  void aClosedConnectionEndsIt() {
    Candidate candidate = leading(7);
    cluster.become(Link.State.CLOSED);
    List<Throwable> ends = new CopyOnWriteArrayList<>();
    Wait.until("it knows", () -> !candidate.isLeading());
    candidate.onEnd(ends::add);
    Wait.until("it has ended", () -> !ends.isEmpty());
    assertThat(RefusedException.of(ends.get(0)).refusal()).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(calls).containsExactly("inaugurate 7", "lost 7");
  }

  /** As the dispatcher of a version says it that has no elections. */
  @Test
  void aClusterOfAFormerVersionIsNamed() {
    cluster.refuseHeartbeats(Refusal.INVALID.error("a member subscribes to at least one topic"));
    Refused.with(
        Refusal.INVALID, () -> await(joining()), "former version", "upgrade all nodes first");
  }
}
