package dev.evenkeel.broker.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskUseTest {
  @TempDir Path directory;

  @Test
  void aFileWithSeveralNamesCountsOnceAndNotWhereItIsOnlyLinked() throws IOException {
    Path bodies = Files.createDirectories(directory.resolve("bodies"));
    Path snapshots = Files.createDirectories(directory.resolve("raft/snapshots"));
    Path live = Files.write(bodies.resolve("1"), new byte[1_000]);
    Files.createLink(snapshots.resolve("1"), live);
    Path deleted = Files.write(snapshots.resolve("2"), new byte[200]);
    Files.createLink(snapshots.resolve("again"), deleted);
    DiskUse log = new DiskUse(directory.resolve("raft"), List.of(bodies));
    assertThat(log.bytes()).isNaN();
    log.measure();
    assertThat(log.bytes()).isEqualTo(200);
    DiskUse all = new DiskUse(directory, List.of());
    all.measure();
    assertThat(all.bytes()).isEqualTo(1_200);
  }
}
