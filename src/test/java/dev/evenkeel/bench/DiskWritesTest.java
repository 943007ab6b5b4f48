package dev.evenkeel.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class DiskWritesTest {
  private static JsonObject json(DiskWrites writes) {
    JsonObject result = new JsonObject();
    writes.putInto(result);
    return result;
  }

  @Test
  void onlyTheRunCountsAndNotTheWarmUp() {
    DiskWrites run =
        DiskWrites.of(Map.of("n1", 6_800.0), 1_500L).since(DiskWrites.of(Map.of("n1", 1e3), 500L));
    assertThat(run.text()).isEqualTo("written to disk: 5.80 bytes for each byte of batches");
    assertThat(json(run))
        .isEqualTo(
            new JsonObject(
                """
                {"writtenRatio": {"n1": 5.8}, "writtenBytes": {"n1": 5800},
                 "ackedBatchBytes": 1000, "writtenUnknown": null}
                """));
  }

  @Test
  void eachNodeHasAFigureOfItsOwn() {
    DiskWrites run =
        DiskWrites.of(Map.of("n2", 200.0, "n1", 350.0, "n3", 0.0), 100L)
            .since(DiskWrites.of(Map.of("n1", 0.0, "n2", 0.0, "n3", 0.0), 0L));
    assertThat(run.text().lines())
        .containsExactly(
            "written to disk by n1: 3.50 bytes for each byte of batches",
            "written to disk by n2: 2.00 bytes for each byte of batches",
            "written to disk by n3: 0.00 bytes for each byte of batches");
    assertThat(run.worstRatio()).isEqualTo(3.5);
    assertThat(DiskWrites.unknown("no /proc", 100L).worstRatio()).isNull();
    assertThat(json(run).getJsonObject("writtenRatio").fieldNames())
        .containsExactly("n1", "n2", "n3");
  }

  @Property
  void whatWasBeforeTheRunDoesNotChangeTheRatio(
      @ForAll @LongRange(min = 0, max = 1L << 40) long writtenBefore,
      @ForAll @LongRange(min = 0, max = 1L << 40) long storedBefore,
      @ForAll @LongRange(min = 0, max = 1L << 40) long written,
      @ForAll @LongRange(min = 1, max = 1L << 40) long stored) {
    JsonObject json =
        json(
            DiskWrites.of(Map.of("n1", (double) (writtenBefore + written)), storedBefore + stored)
                .since(DiskWrites.of(Map.of("n1", (double) writtenBefore), storedBefore)));
    assertThat(json.getJsonObject("writtenBytes").getLong("n1")).isEqualTo(written);
    assertThat(json.getLong("ackedBatchBytes")).isEqualTo(stored);
    assertThat(json.getJsonObject("writtenRatio").getDouble("n1"))
        .isEqualTo(Stats.rounded((double) written / stored));
  }

  @Test
  void anUnknownFigureIsNullAndSaysWhy() {
    DiskWrites known = DiskWrites.of(Map.of("n1", 5.0), 10L);
    DiskWrites silent = DiskWrites.of(Map.of("n1", Double.NaN), 30L);
    assertUnknown(silent.since(known), "node n1 gives no figure");
    assertUnknown(known.since(silent), "node n1 gives no figure");
    assertUnknown(known.since(known), "no batch was stored");
    assertUnknown(DiskWrites.of(Map.of("n1", 4.0), 11L).since(known), "n1 started again");
    assertUnknown(DiskWrites.of(Map.of("n2", 9.0), 11L).since(known), "n2 started again");
    assertUnknown(DiskWrites.of(Map.of("n1", 9.0), null).since(known), "has no leader");
    assertThat(json(silent.since(known)).getLong("ackedBatchBytes")).isEqualTo(20);
  }

  private static void assertUnknown(DiskWrites run, String why) {
    assertThat(run.text()).startsWith("written to disk: unknown, because ").contains(why);
    JsonObject json = json(run);
    assertThat(json.getString("writtenUnknown")).contains(why);
    assertThat(json.getValue("writtenRatio")).isNull();
    assertThat(json.getValue("writtenBytes")).isNull();
    assertThat(json.containsKey("writtenRatio")).isTrue();
  }

  @Test
  void theMetricsOfANodeSayWhoItIsAndWhatItWrote() {
    NodeMetrics metrics =
        new NodeMetrics(
            """
            # TYPE evenkeel_build_info gauge
            evenkeel_build_info{node="n-1",version="1.0"} 1.0
            # TYPE evenkeel_process_written_bytes gauge
            evenkeel_process_written_bytes 1.2345678E10
            jvm_memory_used_bytes{area="heap",id="Eden"} 100.0
            jvm_memory_used_bytes{area="heap",id="Old"} 23.0
            jvm_memory_used_bytes{area="nonheap",id="Code"} 1000.0
            """);
    assertThat(metrics.node()).isEqualTo("n-1");
    assertThat(metrics.writtenBytes()).isEqualTo(12_345_678_000.0);
    assertThat(metrics.heapBytes()).isEqualTo(123.0);
    assertThat(new NodeMetrics("evenkeel_process_written_bytes NaN\n").writtenBytes()).isNaN();
    assertThat(new NodeMetrics("other 1\n").node()).isNull();
    assertThat(new NodeMetrics("other 1\n").writtenBytes()).isNaN();
  }
}
