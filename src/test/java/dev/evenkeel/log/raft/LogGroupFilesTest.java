package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogGroupFilesTest {
  @TempDir Path group;

  @Test
  void takesALogWithoutHoles() throws IOException {
    log("raft-meta", "raft-meta.conf", "log_0-9", "log_10-19", "log_inprogress_20");
    accepted();
  }

  @Test
  void takesALogThatBeginsBehindItsSnapshot() throws IOException {
    log("raft-meta", "raft-meta.conf", "log_10-19", "log_inprogress_20");
    snapshot("snapshot.1_9");
    accepted();
  }

  @Test
  void takesAFollowerThatNoLeaderEverReached() throws IOException {
    log("raft-meta");
    accepted();
  }

  @Test
  void refusesAHole() throws IOException {
    log("raft-meta", "raft-meta.conf", "log_0-9", "log_inprogress_20");
    refused("lacks the entries 10 to 19");
  }

  @Test
  void refusesAMissingBeginning() throws IOException {
    log("raft-meta", "raft-meta.conf", "log_inprogress_20");
    snapshot("snapshot.1_9");
    refused("lacks the entries 10 to 19");
  }

  @Test
  void takesAHoleThatASnapshotCovers() throws Exception {
    log("raft-meta", "raft-meta.conf", "log_0-1", "log_inprogress_32");
    snapshot("snapshot.2_31");
    accepted();
  }

  private void accepted() {
    assertThatCode(() -> LogGroupFiles.check("d0", group, false)).doesNotThrowAnyException();
  }

  private void refused(String why) {
    assertThatThrownBy(() -> LogGroupFiles.check("d0", group, false)).hasMessageContaining(why);
  }

  private void log(String... names) throws IOException {
    Files.createDirectories(group.resolve("current"));
    for (String name : names) {
      Files.createFile(group.resolve("current").resolve(name));
    }
  }

  private void snapshot(String name) throws IOException {
    Files.createDirectories(group.resolve("sm").resolve(name));
  }
}
