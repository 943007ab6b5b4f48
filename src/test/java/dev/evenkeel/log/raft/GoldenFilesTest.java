package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Golden;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.raft.AppliedPositions.Position;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files beside the logs keep their format. Another format needs another one of {@code
 * cluster.json}, too.
 */
class GoldenFilesTest {
  private static final String DIRECTORY = "data";
  private static final ClusterFile CLUSTER =
      new ClusterFile(
          new NodeInfo(
              "b",
              "0f9e",
              NodeInfo.Stage.FORMED,
              "5a7d2d0c-6a0b-4c1e-9a55-0d9f3f0c8e21",
              List.of("a@01", "b@0f9e", "c@02"),
              List.of("a", "b", "c"),
              4));
  private static final Map<String, Position> POSITIONS =
      new TreeMap<>(
          Map.of(
              "d0", new Position(TermIndex.valueOf(2, 90), 88),
              "d1", new Position(TermIndex.valueOf(0, -1), -1),
              "meta", new Position(TermIndex.valueOf(1, 5), 5)));

  @TempDir Path temp;

  @Test
  void theFileOfTheClusterIsReadAndWrittenAsItWas() throws Exception {
    CLUSTER.write(temp);
    Golden.checkBytes(DIRECTORY + "/" + ClusterFile.NAME, temp.resolve(ClusterFile.NAME));
    assertThat(ClusterFile.read(Golden.path(DIRECTORY))).isEqualTo(CLUSTER);
  }

  @Test
  void positionsAreReadAndWrittenAsTheyWere() throws Exception {
    new AppliedPositions(temp).write(POSITIONS);
    Golden.checkBytes(DIRECTORY + "/applied", temp.resolve("applied"));
    assertThat(new AppliedPositions(Golden.path(DIRECTORY)).read()).isEqualTo(POSITIONS);
  }
}
