package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** As {@link BenchIT}, of what is measured less often. */
@Tag("full")
class BenchComparisonsIT {
  @TempDir Path directory;

  private JsonObject bench(String... args) throws IOException {
    return BenchIT.bench(directory, args);
  }

  @Test
  void aLoneMessageIsComparedWithABareRequest() throws IOException {
    JsonObject json = bench("single", "--rate", "20", "--warmup", "100ms", "--duration", "1s");
    assertThat(json.getJsonObject("producer").getLong("count")).isEqualTo(20);
    assertThat(json.getJsonObject("bare").getLong("count")).isEqualTo(20);
    assertThat(json.getDouble("p50Ratio")).isPositive();
  }

  @Test
  void batchingAsItComesIsComparedWithSettings() throws IOException {
    JsonObject json =
        bench(
            "batching",
            "--rounds=1",
            "--duration=300ms",
            "--warmup=100ms",
            "--lingers=0ms,5ms",
            "--batches=16KiB");
    assertThat(json.getJsonArray("settings")).hasSize(3);
    assertThat(json.getDouble("ofBestTuned")).isPositive();
  }

  @Test
  void aGroupReadsWhatWasFilledIn() throws IOException {
    JsonObject json = bench("consume", "--messages", "20000", "--keys", "50", "--consumers", "2");
    assertThat(json.getLong("received")).isGreaterThanOrEqualTo(20_000);
    assertThat(json.getLong("messagesPerSecond")).isPositive();
  }

  @Test
  void delayedMessagesAllComeAndNoneBeforeItsTime() throws IOException {
    JsonObject json = bench("delay", "--messages", "2000", "--lead", "5s", "--waiting", "5000");
    assertThat(json.getLong("received")).isEqualTo(2_000);
    assertThat(json.getLong("early")).isZero();
    JsonObject lateness = json.getJsonObject("lateness");
    assertThat(lateness.getLong("count")).isEqualTo(2_000);
    assertThat(lateness.getDouble("p99Millis"))
        .isBetween(lateness.getDouble("p50Millis"), lateness.getDouble("maxMillis"));
    assertThat(json.getDouble("heapWaitingMegabytes")).isPositive();
  }
}
