package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.log.LogStartException;
import dev.evenkeel.storage.RocksShared;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DamagedCopyTest {
  @TempDir Path temp;
  private final RocksShared shared = new RocksShared();
  private Path log;
  private RocksState state;

  @BeforeEach
  void makeFiles() throws IOException {
    log = temp.resolve("raft/1234");
    Files.createDirectories(log.resolve("sm/snapshot.1_9"));
    Files.createDirectories(log.resolve("current"));
    for (String name : new String[] {"log_10-19", "log_inprogress_20", "raft-meta.conf"}) {
      Files.writeString(log.resolve("current").resolve(name), name);
    }
    Files.writeString(log.resolve("current/raft-meta"), "#\nterm=7\nvotedFor=b\n");
    Files.createDirectories(temp.resolve("live/d0"));
    Files.createDirectories(temp.resolve("bodies/d0"));
    state = new RocksState(temp.resolve("live/d0"), shared);
  }

  @AfterEach
  void close() {
    shared.close();
  }

  private DamagedCopy read() throws IOException {
    DamagedCopy copy = new DamagedCopy(temp.resolve("damaged"), "d0");
    copy.read();
    return copy;
  }

  private String mark() throws IOException {
    return Files.readString(temp.resolve("damaged/d0"));
  }

  @Test
  void damageIsRememberedAndTheNodeVotesOn() throws Exception {
    DamagedCopy copy = read();
    assertThat(copy.detail()).isNull();
    assertThat(copy.note("a bad\nblock")).isTrue();
    assertThat(copy.note("another")).isFalse();
    copy.write();
    assertThat(mark()).isEqualTo("a bad block\n");
    DamagedCopy again = read();
    assertThat(again.detail()).isEqualTo("a bad block");
    assertThat(again.due()).isFalse();
    assertThat(again.isVoteless()).isFalse();
  }

  @Test
  void whatIsDueIsSetAsideAtTheNextStartAndTermAndVoteStay() throws Exception {
    read().makeDue("a bad block");
    DamagedCopy copy = read();
    assertThat(copy.due()).isTrue();
    assertThat(copy.isVoteless()).isTrue();
    copy.setAside(log, state);
    assertThat(log.resolve("current")).isDirectoryNotContaining("glob:**log_*");
    assertThat(log.resolve("current/raft-meta")).hasContent("#\nterm=7\nvotedFor=b\n");
    assertThat(log.resolve("current/raft-meta.conf")).exists();
    assertThat(log.resolve("sm")).doesNotExist();
    assertThat(temp.resolve("live/d0")).doesNotExist();
    Path aside = temp.resolve("damaged/d0.files/1");
    for (String file :
        new String[] {"log_10-19", "log_inprogress_20", "sm/snapshot.1_9", "live", "bodies"}) {
      assertThat(aside.resolve(file)).exists();
    }
    DamagedCopy copying = read();
    assertThat(copying.due()).isFalse();
    assertThat(copying.isVoteless()).isTrue();
    assertThat(copying.formerTerm()).isEqualTo(7);
    copying.finished();
    assertThat(read().detail()).isNull();
    assertThat(temp.resolve("damaged")).isEmptyDirectory();
  }

  @Test
  void aCopyThatIsDamagedWhileItComesIsSetAsideToo() throws Exception {
    read().makeDue("a bad block");
    read().setAside(log, state);
    Files.writeString(log.resolve("current/log_inprogress_0"), "new");
    DamagedCopy copying = read();
    copying.makeDue("another");
    assertThat(copying.isVoteless()).isTrue();
    DamagedCopy due = read();
    assertThat(due.due()).isTrue();
    due.setAside(log, state);
    assertThat(temp.resolve("damaged/d0.files/1/log_10-19")).exists();
    assertThat(temp.resolve("damaged/d0.files/2/log_inprogress_0")).exists();
  }

  @Test
  void aStartThatBreaksOffSetsTheRestAside() throws Exception {
    read().makeDue("a bad block");
    Files.createDirectories(temp.resolve("damaged/d0.files/1"));
    Files.move(
        log.resolve("current/log_10-19"), temp.resolve("damaged/d0.files/1").resolve("log_10-19"));
    read().setAside(log, state);
    assertThat(temp.resolve("damaged/d0.files/2/log_inprogress_20")).exists();
    assertThat(read().copying()).isTrue();
  }

  @Test
  void withoutTermAndVoteNothingIsTouched() throws Exception {
    read().makeDue("a bad block");
    Files.writeString(log.resolve("current/raft-meta"), "#\ntxrm=7\n");
    assertThatThrownBy(() -> read().setAside(log, state))
        .isInstanceOf(LogStartException.class)
        .hasMessageContaining("raft-meta")
        .hasMessageContaining("replace this node");
    assertThat(log.resolve("current/log_10-19")).exists();
    assertThat(read().due()).isTrue();
  }

  /** It may have said that the node has no vote. */
  @Test
  void aSecondLineThatIsDamagedCountsAsDue() throws Exception {
    read().makeDue("a bad block");
    read().setAside(log, state);
    Files.writeString(temp.resolve("damaged/d0"), mark().replace("above", "abpve"));
    assertThat(read().due()).isTrue();
  }

  @Test
  void whatWasNotDeletedYetGoesAtTheNextStartAndFilesWithoutAMarkStay() throws Exception {
    Files.createDirectories(temp.resolve("damaged/d0.files/1"));
    Files.createDirectories(temp.resolve("damaged/d0.needless/1"));
    read();
    assertThat(temp.resolve("damaged/d0.needless")).doesNotExist();
    assertThat(temp.resolve("damaged/d0.files")).exists();
  }
}
