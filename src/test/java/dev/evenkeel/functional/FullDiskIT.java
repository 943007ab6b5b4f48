package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The disk of one of three nodes fills up under load, and gets room again. */
@Tag("full")
class FullDiskIT {
  private static final int DISK_MEBIBYTES = 320;
  private static final int LIMIT_MEBIBYTES = 64;

  @TempDir Path directory;

  @Test
  @Timeout(400)
  void itsNodeGivesTheLeadAwayAndNoMessageFails() {
    try (SmallDisk disk = SmallDisk.at(directory.resolve("n1/data"), DISK_MEBIBYTES);
        Trio trio = new Trio(directory, "--disk-free-min-bytes", LIMIT_MEBIBYTES + "MiB").start()) {
      Node full = trio.node(1);
      Node other = trio.node(2);
      other.createTopic("events", 6);
      awaitLeads(other, "n1", true);
      Jar.Running consumer = trio.consume("c", "events", "g");
      Jar.Running producer = trio.produce("producer", "events", 2_000, "--delivery-timeout", "20s");
      long lines;
      try (Feeder feeder = new Feeder(producer.process.getOutputStream(), 50)) {
        awaitWritten(other, 2_000);
        disk.fill(LIMIT_MEBIBYTES - 10);
        awaitLeads(other, "n1", false);
        assertThat(ineligible(other)).containsExactly("n1 DISK_FULL");
        assertThat(other.admin("cluster", "status").out())
            .contains("n1 should not lead meta, d0, d1, d2: DISK_FULL, ");
        assertThat(full.get("/metrics").body())
            .contains("evenkeel_log_ineligible{log=\"d0\",reason=\"disk_full\"} 1");
        awaitWritten(other, other.written("events") + 5_000);
        disk.fill(LIMIT_MEBIBYTES / 2 - 8);
        Wait.until(
            "n1 takes no entries",
            () -> other.read("/api/cluster").contains("it takes no entries"));
        awaitWritten(other, other.written("events") + 5_000);
        assertThat(full.process().process.isAlive()).isTrue();
        disk.empty();
        trio.awaitCaughtUp(full);
        awaitLeads(other, "n1", true);
        assertThat(ineligible(other)).isEmpty();
        lines = feeder.finish();
      }
      producer.awaitAcked(lines);
      other.awaitConsumed("g", lines);
      consumer.stopWell();
      new DeliveryCheck(Lines.read(List.of(consumer.out))).assertEachKeyCompleteAndInOrder(lines);
    }
  }

  private static void awaitWritten(Node asked, long messages) {
    Wait.until(messages + " messages are written", () -> asked.written("events") >= messages);
  }

  /** Until the node leads some log group, or none. */
  private static void awaitLeads(Node asked, String node, boolean some) {
    Wait.until(
        node + (some ? " leads" : " leads nothing"),
        () -> logs(asked).stream().anyMatch(l -> node.equals(l.getString("leader"))) == some);
  }

  /** Node and reason of each that should not lead. */
  private static Set<String> ineligible(Node asked) {
    Set<String> found = new TreeSet<>();
    for (JsonObject log : logs(asked)) {
      for (Object each : log.getJsonArray("ineligible")) {
        JsonObject node = (JsonObject) each;
        found.add(node.getString("node") + " " + node.getString("reason"));
      }
    }
    return found;
  }

  private static List<JsonObject> logs(Node asked) {
    return new JsonObject(asked.read("/api/cluster"))
        .getJsonArray("logs").stream().map(JsonObject.class::cast).toList();
  }
}
