package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Refused;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostPortTest {
  @Test
  void whatIsWrittenIsReadAgain() {
    for (HostPort each :
        List.of(
            new HostPort("localhost", 1),
            new HostPort("10.0.0.1", 5701),
            new HostPort("::1", 5701),
            new HostPort("fe80::1%lo", HostPort.PORT_MAX))) {
      assertThat(HostPort.parse(each.toString())).isEqualTo(each);
    }
    assertThat(HostPort.parse("[2001:db8::1]:5701").host()).isEqualTo("2001:db8::1");
    assertThat(new HostPort("::1", 5701).hazelcast()).hasToString("[::1]:5704");
  }

  @Test
  void anIpv6AddressWithoutBracketsIsRefusedAndTheRightFormNamed() {
    for (String bare : List.of("::1:5701", "2001:db8::1:5701", "::1")) {
      Refused.saying(() -> HostPort.parse(bare), "'" + bare + "'");
    }
    assertThatThrownBy(() -> HostPort.parse("2001:db8::1:5701"))
        .hasMessageContaining("write an IPv6 address in brackets, such as [::1]:5701");
  }

  @Test
  void whatIsNoAddressIsRefused() {
    for (String bad :
        List.of(
            "",
            "host",
            ":5701",
            "host:",
            "host:0",
            "host:65536",
            "[::1]",
            "[::zz]:5701",
            "[host]:5701",
            "[::1:5701",
            "::1]:5701",
            "[]:5701")) {
      assertThatThrownBy(() -> HostPort.parse(bad))
          .as(bad)
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("bad address '");
    }
  }
}
