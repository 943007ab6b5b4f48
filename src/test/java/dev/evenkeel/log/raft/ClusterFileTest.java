package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.util.files.DurableFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClusterFileTest {
  @TempDir Path directory;

  @Test
  void isReadAsItWasWritten() throws Exception {
    for (Stage stage : List.of(Stage.AGREED, Stage.OPENING, Stage.FORMED)) {
      ClusterFile file =
          file(
              "b",
              "0f9e",
              stage,
              UUID.randomUUID(),
              List.of("a@01", "b@0f9e", "c@02"),
              List.of("a", "b", "c"),
              4);
      file.write(directory);
      assertThat(ClusterFile.read(directory)).isEqualTo(file);
    }
    assertThat(DurableFiles.list(directory)).hasSize(1);
  }

  @Test
  void whoWasTakenInLaterHasNoFirstVoters() throws Exception {
    ClusterFile file =
        file("b", "0f9e", Stage.OPENING, UUID.randomUUID(), List.of(), List.of("a", "b"), 4);
    file.write(directory);
    assertThat(ClusterFile.read(directory)).isEqualTo(file);
  }

  @Test
  void knowsTheFoundersOfAnAddedGroupWhileItIsBeingOpened() throws Exception {
    ClusterFile formed =
        file("b", "0f", Stage.FORMED, UUID.randomUUID(), List.of("a@1", "b@0f"), List.of(), 2);
    List<String> founders = List.of("b@0f", "c@3");
    ClusterFile adding = formed.adding(founders);
    adding.write(directory);
    assertThat(ClusterFile.read(directory)).isEqualTo(adding);
    assertThat(adding.groups()).containsExactly("meta", "d0", "d1", "d2");
    assertThat(adding.firstVoters("d1")).isEqualTo(formed.info().voters());
    assertThat(adding.firstVoters("d2")).isEqualTo(founders);
    assertThat(adding.adding(founders)).as("tried again").isEqualTo(adding);
    ClusterFile opened = adding.opened();
    opened.write(directory);
    assertThat(ClusterFile.read(directory)).isEqualTo(opened);
    assertThat(opened.firstVoters("d2")).isEmpty();
    assertThat(opened.adding(List.of()).groups()).endsWith("d2", "d3");
    assertThat(opened.adding(List.of()).firstVoters("d3")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1, or use a new directory", "2, or use a new directory", "4, start the version"})
  void aDirectoryOfAnotherFormatIsRefused(int format, String advice) throws Exception {
    ClusterFile file =
        file("a", "0f9e", Stage.FORMED, UUID.randomUUID(), List.of("a"), List.of("a"), 3);
    file.write(directory);
    Path path = directory.resolve(ClusterFile.NAME);
    String text = Files.readString(path);
    Files.writeString(path, text.replaceFirst("\"format\": \\d+", "\"format\": " + format));
    Fails.with(
        LogStartException.class, () -> ClusterFile.read(directory), "format " + format, advice);
  }

  @Test
  void thereIsNoneInANewDirectory() throws Exception {
    assertThat(ClusterFile.read(directory)).isNull();
  }

  @Test
  void aGroupHasAnIdOfItsOwn() {
    ClusterFile file = ClusterFile.alone(settings("a", "a"));
    assertThat(file.groups()).containsExactly("meta", "d0", "d1", "d2");
    assertThat(file.groups().stream().map(file::groupId)).doesNotHaveDuplicates();
  }

  @Test
  void twoLoneNodesAreTwoClusters() {
    assertThat(ClusterFile.alone(settings("a", "a")).info().clusterId())
        .isNotEqualTo(ClusterFile.alone(settings("a", "a")).info().clusterId());
  }

  private static ClusterFile file(
      String node,
      String incarnation,
      Stage stage,
      UUID cluster,
      List<String> voters,
      List<String> peers,
      int dataGroups) {
    return new ClusterFile(
        new NodeInfo(node, incarnation, stage, cluster.toString(), voters, peers, dataGroups));
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
