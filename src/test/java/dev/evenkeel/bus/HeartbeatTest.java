package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.model.StartAt;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeartbeatTest {
  private final Heartbeat beat =
      new Heartbeat(
          "g",
          "m",
          "i",
          1,
          false,
          false,
          "sharded",
          List.of("t"),
          StartAt.EARLIEST,
          "c",
          "host",
          2,
          5_000,
          50_000);

  @Test
  void itIsTheSameAfterTheWire() {
    for (Heartbeat each : List.of(beat, beat.asClosing())) {
      assertThat(Heartbeat.fromJson(new JsonObject(each.toJson().toBuffer()))).isEqualTo(each);
    }
    assertThat(beat.asClosing().closing()).isTrue();
  }

  @Test
  void whoSaysNothingOfClosingIsNotClosing() {
    JsonObject json = beat.toJson();
    json.remove("closing");
    assertThat(Heartbeat.fromJson(json)).isEqualTo(beat);
  }
}
