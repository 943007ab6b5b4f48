package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A node with a small heap takes any number of the smallest messages, each in a batch of its own:
 * what it keeps of them is bounded by what it takes on the heap.
 */
@Tag("full")
class SmallMessagesIT {
  private static final int MESSAGES = 150_000;

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({"128,3", "256,10"})
  void theHeapStaysFlat(int heapMib, int dataGroups) throws Exception {
    try (Node node =
        new Node(directory.resolve("node"))
            .inJvm(List.of("-Xmx" + heapMib + "m", "-XX:+ExitOnOutOfMemoryError"))
            .start("--data-groups", String.valueOf(dataGroups))) {
      for (int part = 0; part < 4; part++) {
        Jar.Result sent =
            Jar.run(
                directory,
                "bench",
                "produce",
                "--cluster",
                "localhost:" + node.port,
                "--messages",
                String.valueOf(MESSAGES),
                "--warmup",
                "200ms",
                "--size",
                "1B",
                "--batch",
                "64B",
                "--in-flight",
                "2KiB",
                "--linger",
                "0ms",
                "--format",
                "json");
        assertThat(sent.status()).as(sent.toString()).isZero();
        assertThat(new JsonObject(sent.out()).getLong("acked")).isEqualTo(MESSAGES);
        long live = Footprint.of(node.pid()).liveBytes();
        System.out.println("small messages: " + live + " bytes live of " + heapMib + " MiB");
        assertThat(live).isLessThan((heapMib << 20) * 7L / 10);
      }
    }
  }
}
