package dev.evenkeel.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Machines hear each other, or not, as they are told to; and nothing is left of them. */
@Timeout(120)
@Tag("chaos")
class NetworkIT {
  @TempDir Path directory;

  @BeforeAll
  static void possible() {
    Network.assumePossible();
  }

  private static boolean hears(Network network, String from, String to) {
    return network.host(from).hears(network.host(to));
  }

  @Test
  void aCutIsOfTwoMachinesUntilItIsHealed() {
    try (Network network = Network.open()) {
      network.hosts("a", "b", "c");
      network.cut("a", "b");
      assertThat(hears(network, "a", "b")).isFalse();
      assertThat(hears(network, "a", "c")).isTrue();
      assertThat(hears(network, "b", "c")).isTrue();
      network.heal();
      assertThat(hears(network, "a", "b")).isTrue();
      network.cutOneWay("a", "b");
      assertThat(hears(network, "b", "a")).as("the answer does not come").isFalse();
      network.heal("b");
      assertThat(hears(network, "b", "a")).isTrue();
      network.isolate("c");
      assertThat(hears(network, "b", "c")).isFalse();
    }
  }

  @Test
  void somePacketsAreLostAndOthersComeLate() {
    try (Network network = Network.open()) {
      Assumptions.assumeTrue(network.noDelay().isEmpty(), () -> network.noDelay().get());
      network.hosts("a", "b");
      network.lose("a", 20);
      network.delay("a", 100, 150);
      long begin = System.nanoTime();
      assertThat(hears(network, "b", "a")).isTrue();
      assertThat(System.nanoTime() - begin).isGreaterThan(100_000_000L);
      network.heal();
      assertThat(hears(network, "a", "b")).isTrue();
    }
  }

  @Test
  void whatAKilledRunLeftIsRemovedByTheNext() throws IOException {
    Network left = Network.open();
    Host host = left.host("a");
    host.disk(directory, 1);
    Process running =
        new ProcessBuilder("ip", "netns", "exec", host.namespace(), "sleep", "1000").start();
    left.abandon();
    Network.open().close();
    assertThat(running.onExit().join().exitValue()).isEqualTo(128 + 9);
    assertThat(Commands.run("ip netns list")).noneMatch(line -> line.startsWith(host.namespace()));
    assertThat(Files.readString(Path.of("/proc/self/mounts"))).doesNotContain(host.namespace());
  }
}
