package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StrangersTest {
  private final Set<String> busy = new HashSet<>();
  private final Strangers<String> strangers = new Strangers<>(3, each -> !busy.contains(each));

  private String came(String connection) {
    return strangers.came(connection, connection.substring(0, 1));
  }

  @Test
  void whoHasTheMostLosesTheOneThatWasUsedFirst() {
    assertThat(came("b1")).isNull();
    assertThat(came("a1")).isNull();
    assertThat(came("a2")).isNull();
    assertThat(came("c1")).isEqualTo("a1");
    strangers.left("c1");
    came("a3");
    strangers.used("a2");
    assertThat(came("c2")).isEqualTo("a3");
    assertThat(strangers.count()).isEqualTo(3);
  }

  @Test
  void oneThatIsBusyStays() {
    came("a1");
    came("a2");
    came("b1");
    busy.addAll(Set.of("a1", "a2"));
    assertThat(came("c1")).isEqualTo("b1");
    busy.add("c1");
    assertThat(came("d1")).isEqualTo("d1");
    strangers.left("d1");
    strangers.left("a1");
    assertThat(came("d2")).isNull();
    assertThat(strangers.count()).isEqualTo(3);
  }

  @Test
  void whoHasManyAddressesOfANetworkIsOneSource() throws Exception {
    String first = Strangers.source(InetAddress.getByName("2001:db8:1:2::1"));
    assertThat(Strangers.source(InetAddress.getByName("2001:db8:1:2:ffff::9"))).isEqualTo(first);
    assertThat(Strangers.source(InetAddress.getByName("2001:db8:1:3::1"))).isNotEqualTo(first);
    assertThat(Strangers.source(InetAddress.getByName("192.0.2.7"))).isEqualTo("192.0.2.7");
    assertThat(Strangers.source((InetAddress) null)).isEmpty();
  }
}
