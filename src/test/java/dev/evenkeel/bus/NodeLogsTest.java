package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The gateway of an application and the nodes of a cluster may have different versions. */
class NodeLogsTest {
  private static final StateDigest DIGEST =
      new StateDigest(1, 2, new TreeMap<>(Map.of(1_024L, 5L, 1_030L, -6L)));

  private static NodeLogs logs(Map<String, String> ineligible, StateDigest digest) {
    return new NodeLogs(
        "n",
        "h",
        List.of(
            group("meta", ineligible, null, Map.of()),
            group("d0", Map.of(), digest, Map.of("m", "y"))),
        new NodeLogs.Levels(3, 2, "0.3.0"),
        new NodeLogs.Disk(1L << 40, 1 << 30),
        Map.of("m", 7L));
  }

  private static NodeLogs.Group group(
      String name,
      Map<String, String> ineligible,
      StateDigest digest,
      Map<String, String> differs) {
    return new NodeLogs.Group(
        name,
        "n",
        1,
        true,
        2,
        3,
        Map.of("m", 4L),
        new NodeLogs.Condition(ineligible, digest, differs, null));
  }

  /** As the first version writes it. */
  private static Bytes first() {
    Bytes out = new Bytes().text("n").text("h").i32(2);
    for (String name : List.of("meta", "d0")) {
      out.text(name).text("n").i64(1).i32(1).i64(2).i64(3).i32(1).text("m").i64(4);
    }
    return out;
  }

  @Test
  void whatTheFirstVersionTellsIsRead() {
    NodeLogs read = NodeLogs.decode(new ByteReader(first().toArray()));
    assertThat(read.levels()).isEqualTo(NodeLogs.Levels.FIRST);
    assertThat(read.groups())
        .containsExactly(
            group("meta", Map.of(), null, Map.of()), group("d0", Map.of(), null, Map.of()));
  }

  @Test
  void theFirstVersionReadsTheBeginningOfWhatThisOneTells() {
    byte[] former = first().toArray();
    assertThat(logs(Map.of("DAMAGED", "x"), DIGEST).encode().toArray()).startsWith(former);
  }

  @Test
  void whatThisVersionTellsIsReadWhole() {
    NodeLogs logs = logs(Map.of("DAMAGED", "x"), DIGEST);
    assertThat(NodeLogs.decode(new ByteReader(logs.encode().toArray()))).isEqualTo(logs);
  }

  @Test
  void whatANodeStoresIsReadAndMayBeMissing() {
    NodeLogs logs = logs(Map.of(), DIGEST);
    NodeLogs.Group d0 = logs.groups().get(1);
    NodeLogs.Group storing =
        new NodeLogs.Group(
            "d0",
            d0.leader(),
            d0.term(),
            d0.leads(),
            d0.commitIndex(),
            d0.appliedIndex(),
            d0.matchIndex(),
            d0.condition().with(new NodeLogs.Bodies(70, 30, 2)));
    NodeLogs whole =
        new NodeLogs(
            "n",
            "h",
            List.of(logs.groups().get(0), storing),
            logs.levels(),
            logs.disk(),
            logs.unanswered());
    byte[] all = whole.encode().toArray();
    assertThat(NodeLogs.decode(new ByteReader(all))).isEqualTo(whole);
    var silent = new NodeLogs("n", "h", whole.groups(), whole.levels(), whole.disk(), Map.of());
    byte[] bytes = Arrays.copyOf(all, silent.encode().toArray().length - Integer.BYTES);
    assertThat(NodeLogs.decode(new ByteReader(bytes)))
        .isEqualTo(new NodeLogs("n", "h", whole.groups(), whole.levels(), whole.disk(), null));
    byte[] before = Arrays.copyOf(bytes, bytes.length - 17);
    assertThat(NodeLogs.decode(new ByteReader(before)))
        .isEqualTo(new NodeLogs("n", "h", whole.groups(), logs.levels()));
    NodeLogs.Levels unnamed = new NodeLogs.Levels(3, 2, null);
    int version = 17 + Integer.BYTES + logs.levels().version().length();
    before = Arrays.copyOf(bytes, bytes.length - version);
    assertThat(NodeLogs.decode(new ByteReader(before)))
        .isEqualTo(new NodeLogs("n", "h", whole.groups(), unnamed));
    before = Arrays.copyOf(bytes, bytes.length - version - 1 - 25);
    assertThat(NodeLogs.decode(new ByteReader(before)))
        .isEqualTo(new NodeLogs("n", "h", logs.groups(), unnamed));
  }
}
