package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measuring starts nodes of its own, tells figures that agree with each other, and tidies up. */
@Tag("full")
class BenchIT {
  @TempDir Path directory;

  private JsonObject bench(String... args) throws IOException {
    return bench(directory, args);
  }

  /** Runs a benchmark on nodes of its own, and gives what it told. */
  static JsonObject bench(Path directory, String... args) throws IOException {
    Path data = directory.resolve("data");
    String[] all = Stream.concat(Stream.of("bench"), Stream.of(args)).toArray(String[]::new);
    String[] more = {"--data", data.toString(), "--format", "json"};
    Jar.Result result =
        Jar.run(directory, Stream.concat(Stream.of(all), Stream.of(more)).toArray(String[]::new));
    assertThat(result.status()).as(result.toString()).isZero();
    assertThat(result.lines()).hasSize(1);
    try (Stream<Path> left = Files.list(data)) {
      assertThat(left).as("what is left of the nodes' data").isEmpty();
    }
    return new JsonObject(result.out());
  }

  @Test
  void producedMessagesAreAllAcknowledgedAndAllThere() throws IOException {
    var json = bench("produce", "--messages", "20000", "--warmup", "200ms", "--producers", "2");
    assertThat(json.getString("bench")).isEqualTo("produce");
    assertThat(json.getLong("sent")).isEqualTo(20_000);
    assertThat(json.getLong("acked")).isEqualTo(20_000);
    assertThat(json.getLong("failed")).isZero();
    assertThat(json.getLong("stored")).isEqualTo(20_000);
    assertThat(json.getDouble("seconds")).isPositive();
    assertThat(json.getDouble("messagesPerSecond") * json.getDouble("seconds"))
        .isBetween(19_000.0, 21_000.0);
    writesAreTold(json);
  }

  /** Of one node; a batch is larger than its payloads by its header and those of the messages. */
  private static void writesAreTold(JsonObject json) {
    long batchBytes = json.getLong("ackedBatchBytes");
    assertThat(batchBytes).isBetween(20_000 * 100L, 20_000 * 150L);
    if (!Files.isReadable(Path.of("/proc/self/io"))) {
      assertThat(json.getString("writtenUnknown")).contains("/proc");
      return;
    }
    assertThat(json.getString("writtenUnknown")).isNull();
    assertThat(json.getJsonObject("writtenRatio").fieldNames()).containsExactly("n1");
    assertThat(json.getJsonObject("writtenRatio").getDouble("n1"))
        .isCloseTo(json.getJsonObject("writtenBytes").getDouble("n1") / batchBytes, within(0.001));
  }

  @Test
  void latencyIsToldOfEveryMessageInOrderOfItsPercentiles() throws IOException {
    JsonObject json = bench("latency", "--rate", "500", "--warmup", "1s", "--duration", "2s");
    assertThat(json.getLong("sent")).isEqualTo(1_000);
    assertThat(json.getLong("acked")).isEqualTo(1_000);
    assertThat(json.getLong("received")).isEqualTo(1_000);
    for (String what : new String[] {"acknowledged", "endToEnd"}) {
      JsonObject figures = json.getJsonObject(what);
      assertThat(figures.getLong("count")).isEqualTo(1_000);
      assertThat(figures.getDouble("p50Millis")).isPositive();
      assertThat(figures.getDouble("p99Millis"))
          .isBetween(figures.getDouble("p50Millis"), figures.getDouble("maxMillis"));
    }
  }

  @Test
  void theRateOfEachPartIsComparedWithThatOfTheFirst() throws IOException {
    JsonObject json = bench("flat", "--bytes=3MiB", "--part=1MiB", "--warmup=200ms");
    assertThat(json.getJsonArray("parts")).hasSize(3);
    JsonObject last = json.getJsonArray("parts").getJsonObject(2);
    assertThat(json.getJsonArray("parts").getJsonObject(0).getDouble("ofFirst")).isEqualTo(1);
    assertThat(last.getLong("messagesPerSecond")).isPositive();
    assertThat(json.getDouble("lastOfFirst")).isEqualTo(last.getDouble("ofFirst"));
  }

  @Test
  void compressedLinesTakeLessRoom() throws IOException {
    var json = bench("compression", "--size=500B", "--rounds=1", "--duration=1s", "--warmup=500ms");
    JsonArray settings = json.getJsonArray("settings");
    assertThat(settings.stream().map(each -> ((JsonObject) each).getString("compression")))
        .containsExactly("none", "lz4", "zstd");
    double none = settings.getJsonObject(0).getDouble("storedBytesPerMessage");
    assertThat(none).isGreaterThan(500);
    assertThat(settings.getJsonObject(1).getDouble("storedBytesPerMessage")).isLessThan(none / 2);
    assertThat(settings.getJsonObject(2).getDouble("storedBytesPerMessage")).isLessThan(none / 2);
  }

  @Test
  void aWipedNodeIsReplacedAndSnapshotsAreCounted() throws IOException {
    JsonObject json =
        bench(
            words(
                """
                recovery --nodes=3 --bytes=2MiB --entries=100 --rate=300 --warmup=500ms
                --duration=4s
                """));
    assertThat(json.getDouble("startSeconds")).isPositive();
    assertThat(json.getLong("snapshots")).isPositive();
    assertThat(json.getDouble("ackMaxMillis")).isPositive();
    assertThat(json.getDouble("copySeconds")).isPositive();
    assertThat(json.getDouble("copyOfDisk")).isPositive();
  }

  @Test
  void aRunningClusterCanBeMeasured() throws IOException {
    try (Node node = new Node(directory.resolve("node")).start()) {
      Jar.Result result =
          Jar.run(
              directory,
              "bench",
              "produce",
              "--messages=5000",
              "--warmup=0ms",
              "--cluster=" + node.cluster(),
              "--http=http://127.0.0.1:" + node.httpPort);
      assertThat(result.status()).as(result.toString()).isZero();
      assertThat(result.out()).contains("MESSAGES/S").contains("\"acked\":5000");
      assertThat(result.out()).containsPattern("written to disk: ([0-9.]+ bytes|unknown)");
      assertThat(node.stop().status()).isZero();
    }
  }
}
