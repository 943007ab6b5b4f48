package dev.evenkeel.chaos;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.Lines;
import dev.evenkeel.functional.Members;
import dev.evenkeel.functional.Trio;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Applications only open connections. So they work in a network that nobody can connect to, and
 * from which nodes see nothing but the address of its router.
 */
@Timeout(600)
@Tag("chaos")
class NatIT {
  private static final int SHARDS = 6;
  private static final int MESSAGES = 4_000;
  private static final int RATE = 100;

  /** State of a socket in /proc/net/tcp. */
  private static final String LISTEN = "0A";

  private static final List<String> JVM =
      List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  @TempDir Path directory;

  @BeforeAll
  static void possible() {
    Network.assumePossible();
  }

  @Test
  void aClientBehindARouterProducesConsumesAndHandsOver() {
    try (Network network = Network.open();
        Trio trio = network.trio(directory)) {
      Host outside = network.host("outside");
      Host router = network.host("router");
      Host inside = network.behind(router, "inside");
      assertThat(inside.hears(outside)).isTrue();
      // Even a machine that knows the way does not get in.
      outside.run("ip route add " + inside.address() + " via " + router.address());
      assertThat(outside.hears(router)).isTrue();
      assertThat(outside.hears(inside)).isFalse();

      trio.start();
      trio.node(1).createTopic("t", SHARDS);
      Members members = new Members(trio.node(1), "g");
      Path input = Lines.write(directory.resolve("input.log"), MESSAGES, 50);
      try (Jar.Running first = consume(trio, inside)) {
        members.awaitCounts(Map.of("inside", SHARDS));
        try (Jar.Running producer = produce(trio, inside, input)) {
          try (Jar.Running second = consume(trio, outside)) {
            members.awaitCounts(Map.of("inside", SHARDS / 2, "outside", SHARDS / 2));
            assertThat(second.stop().status()).isZero();
            members.awaitCounts(Map.of("inside", SHARDS));
            assertThat(listening(inside)).isEmpty();
            assertThat(outside.hears(inside)).as("still").isFalse();
            assertThat(producer.await().status()).isZero();
            trio.node(1).awaitConsumed("g", MESSAGES);
            assertThat(first.stop().status()).isZero();
            assertThat(second.out()).isNotEmpty();
            Lines.assertComplete(input, Lines.read(List.of(first.out, second.out)));
          }
        }
      }
    }
  }

  private Jar.Running consume(Trio trio, Host host) {
    return run(trio, host, "consume", "t", "--group", "g", "--member", host.name());
  }

  private Jar.Running produce(Trio trio, Host host, Path input) {
    String rate = String.valueOf(RATE);
    return run(
        trio,
        host,
        "produce",
        words("t --key-regex %s --rate %s %s", Lines.KEY_REGEX, rate, input));
  }

  private Jar.Running run(Trio trio, Host host, String command, String... args) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of(args));
    all.addAll(List.of("--cluster", trio.cluster()));
    return Jar.startIn(
            host.surroundings(),
            directory,
            command + "-" + host.name(),
            JVM,
            all.toArray(String[]::new))
        .inCrowd();
  }

  /** Sockets at which a program on the machine waits for connections. */
  private static List<String> listening(Host host) {
    return host.run("cat /proc/net/tcp /proc/net/tcp6").stream()
        .filter(line -> line.trim().split("\\s+")[3].equals(LISTEN))
        .toList();
  }
}
