package dev.evenkeel.gateway.session;

import static dev.evenkeel.gateway.session.SessionOptions.BODY_BYTES_MAX;
import static dev.evenkeel.gateway.session.SessionOptions.CONNECTIONS_MAX;
import static dev.evenkeel.gateway.session.SessionOptions.KEEP_ALIVE_MILLIS;
import static dev.evenkeel.gateway.session.SessionOptions.PUSH_BYTES_QUEUED_MAX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SessionOptionsTest {
  private static SessionOptions with(String key, Object value) {
    return new SessionOptions(new JsonObject().put("bodyBytesMax", 10_000).put(key, value));
  }

  @Test
  void absentKeysHaveTheirDefaults() {
    SessionOptions options = new SessionOptions(new JsonObject().put("keepAliveMillis", 100));
    assertThat(options.get(KEEP_ALIVE_MILLIS)).isEqualTo(100);
    assertThat(options.silenceMillisMax()).isEqualTo(300);
    assertThat(options.tickMillis()).isEqualTo(20);
    assertThat(options.get(CONNECTIONS_MAX)).isEqualTo(20_000);
    SessionOptions unset = new SessionOptions(new JsonObject());
    assertThat(unset.tickMillis()).isEqualTo(1_000);
    assertThat(unset.get(BODY_BYTES_MAX)).isEqualTo(4 << 20);
  }

  @Test
  void everyLimitIsChecked() {
    Set<String> others =
        Set.of("host", "node", "clusterName", "nodes", "users", "oidc", "tls", "server");
    List<String> limits =
        SessionOptions.SETTINGS.byKey().keySet().stream()
            .filter(key -> !others.contains(key))
            .toList();
    assertThat(limits).hasSizeGreaterThan(12);
    for (String key : limits) {
      assertThatThrownBy(() -> with(key, -1)).hasMessageContaining(key + " is -1: at least ");
      assertThatThrownBy(() -> with(key, "many")).hasMessageContaining(key + " is many");
    }
  }

  /** A limit of bytes below the longest frame would refuse that frame for ever. */
  @Test
  void aFrameFitsEveryLimitOfBytes() {
    for (String key : List.of("sessionBytesInFlightMax", "pushBytesQueuedMax")) {
      assertThatThrownBy(() -> with(key, 9_999))
          .hasMessage(key + " is 9999: at least 10000 is needed");
      with(key, 10_000);
    }
    Fails.saying(() -> with("nodeBytesInFlightMax", 11_023), "at least 11024 is needed");
    assertThat(with("bodyBytesMax", 20 << 20).get(PUSH_BYTES_QUEUED_MAX)).isEqualTo(20L << 20);
  }
}
