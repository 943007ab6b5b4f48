package dev.evenkeel.broker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.MetaState;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.store.MemoryStore;
import dev.evenkeel.wire.FeatureLevel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DamageMarksTest {
  @TempDir Path temp;

  private LogGroup opened(DamageMarks marks) throws IOException {
    MemoryStore.Disk disk = new MemoryStore.Disk();
    LogNode log =
        new FakeCluster(1, "n1")
            .start(
                new LogSettings("n1", temp, List.of(), 1, 1, 1, 1),
                name ->
                    name.equals(LogNode.META)
                        ? new MetaState(temp.resolve(name), disk::open)
                        : new DataState(
                            temp.resolve(name),
                            disk::open,
                            0,
                            FeatureLevel.reads(),
                            FeatureLevel::reads));
    for (LogGroup group : log.all()) {
      marks.watch(group);
    }
    return log.data().get(0);
  }

  @Test
  void whatWasFoundBeforeTheLogsWereOpenAndInAnEarlierRunCounts() throws IOException {
    DamageMarks marks = new DamageMarks(temp);
    marks.note("d0", "a bad block");
    marks.note("d0", "another");
    LogGroup group = opened(marks);
    assertThat(group.eligibility().reasons()).containsEntry(Reason.DAMAGED, "a bad block");
    assertThat(opened(new DamageMarks(temp)).eligibility().reasons())
        .containsEntry(Reason.DAMAGED, "a bad block");
  }

  @Test
  void whatTheLogFindsIsRememberedToo() throws IOException {
    LogGroup group = opened(new DamageMarks(temp));
    group.eligibility().add(Reason.DISK_FULL, "full");
    assertThat(opened(new DamageMarks(temp)).eligibility().eligible()).isTrue();
    group.eligibility().add(Reason.DAMAGED, "entry 9");
    assertThat(opened(new DamageMarks(temp)).eligibility().reasons())
        .containsEntry(Reason.DAMAGED, "entry 9");
  }
}
