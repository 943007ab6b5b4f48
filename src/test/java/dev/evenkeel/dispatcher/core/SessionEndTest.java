package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.protocol.Refusal;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the end of a session means for the consumers that had it. */
class SessionEndTest {
  private final Bench bench = Bench.withShards(2);

  private Heartbeat beat(String member, String session) {
    return Bench.in(bench.beat(member), "sharded", List.of("t"), session);
  }

  private void ended(String session) {
    bench.run(bench.core.sessionEnded(session, bench.now));
  }

  /** a and b have a shard each, in sessions s-a and s-b. */
  private void evenPair() {
    bench.send(beat("a", "s-a"));
    bench.send(beat("b", "s-b"));
    bench.release(1).owned("ab");
  }

  @Test
  void itsConsumerEndsAtOnceAndIsHeardFromItNoMore() {
    evenPair();
    assertThat(bench.core.anyMemberIn("s-b")).isTrue();
    assertThat(bench.core.heardFrom()).containsExactlyInAnyOrder("s-a", "s-b");
    ended("s-b");
    assertThat(bench.owners()).isEqualTo("aa");
    bench.by(Cause.MEMBER_LEFT);
    assertThat(bench.core.anyMemberIn("s-b")).isFalse();
    assertThat(bench.core.heardFrom()).containsExactly("s-a");
    DispatcherAction.Refuse refusal = (DispatcherAction.Refuse) bench.send(beat("b", "s-b"));
    assertThat(refusal.refusal()).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(refusal.detail()).contains("s-b").contains("connect to the cluster afresh");
    bench.send(beat("b", "s-b2"));
    bench.release(1).owned("ab");
  }

  @Test
  void oneThatHasConnectedAfreshBeforeKeepsItsShards() {
    evenPair();
    bench.send(beat("b", "s-b2"));
    ended("s-b");
    assertThat(bench.owners()).isEqualTo("ab");
    assertThat(bench.core.find("g").members().live("b")).isNotNull();
    ended("s-b2");
    assertThat(bench.owners()).isEqualTo("aa");
  }

  @Test
  void allItsConsumersEndInAllGroups() {
    evenPair();
    Heartbeat other =
        Heartbeats.with(Heartbeats.beat("other", "c", "c1", 100), "clusterMember", "s-b");
    bench.send(other);
    bench.send(beat("d", "s-b"));
    ended("s-b");
    assertThat(bench.owners()).isEqualTo("aa");
    assertThat(bench.core.find("g").members().live()).extracting(Member::name).containsExactly("a");
    assertThat(bench.core.find("other").members().live()).isEmpty();
  }

  @Test
  void oneOfAnotherSessionIsNotConcerned() {
    evenPair();
    ended("s-c");
    assertThat(bench.owners()).isEqualTo("ab");
    assertThat(bench.refusal(beat("c", "s-c"))).isEqualTo(Refusal.UNAVAILABLE);
  }

  @Test
  void sessionThatIsFoundAfterAllIsHeardAgain() {
    evenPair();
    ended("s-b");
    assertThat(bench.core.hasLeft("s-b")).isTrue();
    bench.core.sessionFound("s-b");
    assertThat(bench.core.hasLeft("s-b")).isFalse();
    bench.send(beat("b", "s-b"));
    bench.release(1).owned("ab");
  }

  @Test
  void oneThatTheNextDispatcherHasNotHeardEndsToo() {
    evenPair();
    bench.activate(
        List.of(Bench.ghost("g", "b", "b1", 100L, List.of("t"), "s-b", "host", bench.now + 5_000)));
    assertThat(bench.core.anyMemberIn("s-b")).isTrue();
    bench.after(beat("a", "s-a")).owned("ab");
    ended("s-b");
    assertThat(bench.owners()).isEqualTo("aa");
  }
}
