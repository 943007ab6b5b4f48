package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.api.GroupView;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tracks of one coordinator in two clients, by sessions and by the event bus of the node. */
class ClusterCoordinatorTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private static final int RANGE = 5;

  private EmbeddedNode node;
  private String name;
  private EvenkeelClient session;
  private EvenkeelClient member;

  @BeforeEach
  void connect(EmbeddedNode its) {
    node = its;
    name = "c-" + System.nanoTime();
    session = await(Evenkeel.connect(node.clientOptions()));
    member = await(Evenkeel.with(node.vertx()));
  }

  @AfterEach
  void close() {
    await(session.close());
    await(member.close());
  }

  private static void moveTo(ClusterTrack track, long steps) {
    Wait.until(
        track + " is at " + steps,
        () -> {
          while (track.steps() < steps && track.move()) {
            // On to the next.
          }
          return track.steps() >= steps;
        });
  }

  private static void assertWaits(ClusterTrack track) {
    assertThat(track.move()).as("%s at %s", track, track.steps()).isFalse();
  }

  @Test
  void tracksInTwoClientsStayWithinTheRange() {
    ClusterTrack a = await(session.coordinator(name, RANGE).track("a"));
    ClusterTrack b = await(member.coordinator(name, RANGE).track("b"));
    moveTo(a, RANGE);
    assertWaits(a);
    Future<Void> ready = a.ready();
    assertThat(ready.isComplete()).isFalse();
    assertThat(b.move()).isTrue();
    await(ready);
    assertThat(a.move()).isTrue();
    assertWaits(a);
    moveTo(b, 2 * RANGE + 1);
    assertWaits(b);
    await(a.destroy());
    moveTo(b, 5 * RANGE);
  }

  @Test
  void whoJoinsBeginsWhereTheSlowestIs() {
    ClusterCoordinator coordinator = session.coordinator(name, RANGE);
    ClusterTrack a = await(coordinator.track("a"));
    moveTo(a, 100);
    ClusterTrack b = await(coordinator.track("b"));
    assertThat(b.steps()).isBetween(0L, 100L);
    moveTo(b, 100);
    ClusterTrack c = await(member.coordinator(name, RANGE).track(null));
    assertThat(c.steps()).isBetween(100L - RANGE, 100L);
  }

  @Test
  void whoDoesNotAskIsSetAsideAndComesBack() {
    CoordinatorOptions options = new CoordinatorOptions().setName(name).setRange(RANGE);
    ClusterTrack a = await(session.coordinator(options).track("a"));
    ClusterTrack idle = await(session.coordinator(options.setIdleMillis(300)).track("idle"));
    moveTo(a, 10 * RANGE);
    assertThat(idle.steps()).isZero();
    assertThat(idle.move()).as("it has no place now").isFalse();
    await(idle.ready());
    assertThat(idle.isLost()).isFalse();
    assertThat(idle.steps()).isEqualTo(10 * RANGE);
    assertThat(idle.move()).isTrue();
  }

  @Test
  void aSecondTrackOfTheSameNameReplacesTheFirst() {
    ClusterTrack first = await(session.coordinator(name, RANGE).track("same"));
    AtomicReference<Throwable> lost = new AtomicReference<>();
    first.onLost(lost::set);
    ClusterTrack second = await(member.coordinator(name, RANGE).track("same"));
    Wait.until("the first is lost", first::isLost);
    Wait.until("it says so", () -> lost.get() != null);
    assertThat(((RefusedException) lost.get()).refusal()).isEqualTo(Refusal.MEMBER_REPLACED);
    assertThat(first.move()).isFalse();
    Refused.with(Refusal.MEMBER_REPLACED, () -> await(first.ready()));
    moveTo(second, 10 * RANGE);
  }

  @Test
  void othersAgreeOnTheRangeAndAreNoConsumers() {
    await(session.coordinator(name, RANGE).track("a"));
    Refused.with(
        Refusal.GROUP_MISMATCH,
        () -> await(member.coordinator(name, RANGE + 1).track("b")),
        "range 5, not 6");
    node.createTopic(name, 1);
    ConsumerOptions options = new ConsumerOptions().setGroup(name).setTopics(List.of(name));
    Refused.with(
        Refusal.GROUP_MISMATCH,
        () -> await(member.consumer(options, each -> Future.succeededFuture())),
        "is a coordinator");
    ConsumerOptions other = new ConsumerOptions().setGroup("g" + name).setTopics(List.of(name));
    Consumer consumer = await(member.consumer(other, each -> Future.succeededFuture()));
    Refused.with(
        Refusal.GROUP_MISMATCH,
        () -> await(session.coordinator("g" + name, RANGE).track("b")),
        "reads topics");
    await(consumer.close());
  }

  @Test
  void aClosedClientHasNoTracks() {
    ClusterCoordinator coordinator = session.coordinator(name, RANGE);
    ClusterTrack a = await(coordinator.track("a"));
    ClusterTrack b = await(member.coordinator(name, RANGE).track("b"));
    Future<ClusterTrack> coming = coordinator.track("coming");
    await(session.close());
    moveTo(b, 10 * RANGE);
    assertThat(a.move()).isFalse();
    Refused.with(Refusal.INVALID, () -> await(a.ready()));
    Wait.until("it does not come any more", coming::isComplete);
    assertThat(coming.failed() || !coming.result().move()).isTrue();
    Refused.with(Refusal.UNAVAILABLE, () -> await(coordinator.track("late")));
    Refused.with(Refusal.UNAVAILABLE, () -> session.coordinator(name, RANGE));
  }

  @Test
  void tracksAreMembersOfAGroup() {
    ClusterTrack a = await(session.coordinator(name, RANGE).track("a"));
    ClusterTrack b = await(session.coordinator(name, RANGE).track("b"));
    moveTo(a, RANGE);
    a.ready();
    Wait.untilAsserted(
        "both are shown",
        () -> {
          GroupView.Level level = await(node.admin().group(name)).level();
          assertThat(level.strategy()).isEqualTo("steps");
          assertThat(level.gap()).isEqualTo(RANGE);
          assertThat(level.holder()).isEqualTo("b");
          assertThat(level.bars()).hasSize(2);
        });
    Refused.with(Refusal.GROUP_ACTIVE, () -> await(node.admin().deleteGroup(name, false)));
    await(node.admin().pause(name));
    Wait.until("b stands still", () -> !b.move());
    await(node.admin().resume(name));
    moveTo(b, RANGE + 1);
    await(a.destroy());
    await(b.destroy());
    await(node.admin().deleteGroup(name, false));
  }
}
