package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class RatesTextTest {
  private static String line(long waiting, long shards) {
    JsonObject rates =
        JsonObject.of("delayed", 7, "dropped", 2, "waiting", waiting, "shardsWaiting", shards);
    return GroupTexts.rates(new JsonObject().put("rates", rates)).strip();
  }

  @Test
  void withoutRatesNothingIsSaid() {
    assertThat(GroupTexts.rates(new JsonObject())).isEmpty();
    assertThat(GroupTexts.rates(new JsonObject().put("rates", new JsonObject()))).isEmpty();
  }

  @Test
  void whatWaitsAndWhatWasDroppedIsCounted() {
    assertThat(line(3, 0)).isEqualTo("rates     3 waiting now; 7 had to wait, 2 dropped");
    assertThat(line(1_000, 1))
        .isEqualTo("rates     1000 waiting now (the most in 1 shard); 7 had to wait, 2 dropped");
    assertThat(line(2_000, 2)).contains("(the most in 2 shards)");
  }
}
