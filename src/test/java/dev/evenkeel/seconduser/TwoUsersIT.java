package dev.evenkeel.seconduser;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.functional.Door;
import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.NodeLog;
import dev.evenkeel.functional.SessionAttack;
import dev.evenkeel.functional.SessionRequests;
import dev.evenkeel.protocol.wire.Mutants;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All operations of an honest user succeed while others attack the node, and nothing remains of
 * those who have gone. {@link AttackFiguresIT} looks at each attack alone, and at times.
 */
@Timeout(1_800)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TwoUsersIT {
  private static final int SECONDS = 4;

  /** Of what an attack takes if it is alone. */
  private static final double SCALE = 0.1;

  /** The machine is busy with other tests. */
  private static final Duration PATIENCE = Duration.ofSeconds(80);

  private static final int SOCKETS_MORE = 30;

  /** Groups and producers are remembered, and the honest user goes on. */
  private static final long LIVE_BYTES_MORE = 200 << 20;

  private static final int FRAMES = Mutants.COUNT / 10;

  @TempDir static Path directory;
  private TwoUsers users;
  private TwoUsers.Holds before;

  @BeforeAll
  void start() throws Exception {
    users =
        new TwoUsers(directory, List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"), PATIENCE);
    TimeUnit.SECONDS.sleep(2);
    before = users.holds();
    assertThat(users.honest.next().failures()).isEmpty();
  }

  @AfterAll
  void stop() throws Exception {
    users.close();
  }

  private void itServesOn() throws Exception {
    Wait.until(
        "the sockets of the attackers are closed",
        90,
        () -> users.sockets() <= before.sockets() + SOCKETS_MORE);
    Figures figures = users.honest.next();
    TwoUsers.Holds holds = users.holds();
    System.out.println(figures + ", " + holds);
    assertThat(figures.failures()).isEmpty();
    assertThat(holds.liveBytes()).isLessThan(before.liveBytes() + LIVE_BYTES_MORE);
    assertThat(users.lives()).isTrue();
    NodeLog.assertNoError(List.of(users.node.node()));
  }

  static List<List<Attack>> families() {
    return AllAttacks.FAMILIES;
  }

  @ParameterizedTest
  @MethodSource("families")
  void attackersTakeNothingFromOthers(List<Attack> family) throws Exception {
    try (Jar.Running attacker = users.attack(family, SECONDS, SCALE)) {
      assertThat(attacker.process.waitFor(120, TimeUnit.SECONDS)).isTrue();
      assertThat(attacker.process.exitValue()).as(attacker.err()).isZero();
      System.out.println(AttackRun.said(attacker, "outcome "));
      assertThat(AttackRun.said(attacker, "BUG")).isEmpty();
    }
    itServesOn();
  }

  /** Everything that there is to ask, right and malformed, about what belongs to others. */
  @Test
  void whoMayDoNothingGetsRefusals() throws Exception {
    long seed = Mutants.seed();
    Target target = users.target();
    Door door = new Door(target.port(), target.tls());
    SessionRequests requests =
        new SessionRequests("honest", target.topic("honest"), "shop", List.of(Lane.NODE));
    String token = users.node.token("nobody");
    SessionAttack session = new SessionAttack(List.of(door), requests, token, new Random(seed));
    HttpFuzz http = new HttpFuzz(target, token, new Random(seed));
    try {
      session.send(FRAMES);
      http.send(FRAMES / 2);
    } catch (AssertionError e) {
      throw new AssertionError("-Devenkeel.seed=" + seed, e);
    }
    System.out.println("seed " + seed + ": " + session + "; " + http);
    assertThat(session.received(FrameKind.REFUSAL)).isGreaterThan(FRAMES / 5);
    assertThat(http.answers(403)).isGreaterThan(FRAMES / 10);
    itServesOn();
  }
}
