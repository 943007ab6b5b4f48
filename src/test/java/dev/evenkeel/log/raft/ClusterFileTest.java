package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.log.LogSettings;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterFileTest {
  @TempDir Path directory;

  @Test
  void isReadAsItWasWritten() throws Exception {
    ClusterFile file = ClusterFile.create(settings("b", "c", "a", "b"));
    file.write(directory);
    assertThat(ClusterFile.read(directory)).isEqualTo(file);
    file.withFormed().write(directory);
    assertThat(ClusterFile.read(directory)).isEqualTo(file.withFormed());
    assertThat(file.peers()).containsExactly("a", "b", "c");
    assertThat(DurableFiles.list(directory)).hasSize(1);
  }

  @Test
  void thereIsNoneInANewDirectory() throws Exception {
    assertThat(ClusterFile.read(directory)).isNull();
  }

  @Test
  void theNodesOfAClusterAgreeWithoutAsking() {
    ClusterFile one = ClusterFile.create(settings("a", "a", "b", "c"));
    ClusterFile other = ClusterFile.create(settings("b", "c", "b", "a"));
    assertThat(one.clusterId()).isEqualTo(other.clusterId());
    assertThat(one.groups()).containsExactly("meta", "d0", "d1", "d2");
    assertThat(one.groups().stream().map(one::groupId))
        .doesNotHaveDuplicates()
        .containsExactlyElementsOf(other.groups().stream().map(other::groupId).toList());
  }

  @Test
  void twoLoneNodesAreTwoClusters() {
    assertThat(ClusterFile.create(settings("a", "a")).clusterId())
        .isNotEqualTo(ClusterFile.create(settings("a", "a")).clusterId());
  }

  private LogSettings settings(String node, String... peers) {
    return TestNode.settings(
        node,
        directory,
        java.util.Arrays.stream(peers).map(id -> TestNode.peer(id, 1)).toList(),
        0,
        1);
  }
}
