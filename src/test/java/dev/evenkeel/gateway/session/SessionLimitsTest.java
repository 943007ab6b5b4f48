package dev.evenkeel.gateway.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class SessionLimitsTest {
  @Test
  void absentKeysHaveTheirDefaults() {
    SessionLimits limits = SessionLimits.fromJson(new JsonObject().put("keepAliveMillis", 100));
    assertThat(limits.keepAliveMillis()).isEqualTo(100);
    assertThat(limits.silenceMillisMax()).isEqualTo(300);
    assertThat(limits.tickMillis()).isEqualTo(20);
    assertThat(limits.connectionsMax()).isEqualTo(20_000);
    assertThat(SessionLimits.DEFAULT.tickMillis()).isEqualTo(1_000);
    assertThat(SessionLimits.DEFAULT.bodyBytesMax()).isEqualTo(4 << 20);
  }

  @Test
  void everyKeyIsRead() {
    for (String key : SessionLimits.keys()) {
      assertThatThrownBy(() -> SessionLimits.fromJson(new JsonObject().put(key, -1)))
          .as(key)
          .hasMessageContaining(key + " of -1: it must be a number from ");
      assertThatThrownBy(() -> SessionLimits.fromJson(new JsonObject().put(key, "many")))
          .as(key)
          .hasMessageContaining(key + " of many");
    }
  }

  /** A limit of bytes below the longest frame would refuse that frame for ever. */
  @Test
  void aFrameFitsEveryLimitOfBytes() {
    for (String key : new String[] {"sessionBytesInFlightMax", "pushBytesQueuedMax"}) {
      assertThatThrownBy(
              () ->
                  SessionLimits.fromJson(
                      new JsonObject().put("bodyBytesMax", 10_000).put(key, 9_999)))
          .hasMessageContaining(key + " of 9999: it must be a number from 10000 to ");
    }
    assertThatThrownBy(
            () ->
                SessionLimits.fromJson(
                    new JsonObject()
                        .put("bodyBytesMax", 10_000)
                        .put("nodeBytesInFlightMax", 11_023)))
        .hasMessageContaining("it must be a number from 11024 to ");
    assertThat(SessionLimits.fromJson(new JsonObject().put("bodyBytesMax", 20 << 20)))
        .returns(20L << 20, SessionLimits::pushBytesQueuedMax);
  }
}
