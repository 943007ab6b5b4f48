package dev.evenkeel.broker.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.FakeCluster;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.HeapBodies;
import dev.evenkeel.broker.machine.States;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.MemoryStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DamagedLogGroupsTest {
  @TempDir Path temp;

  /** Directories whose names were made durable. */
  private final List<Path> forced = new ArrayList<>();

  private final Queue<Runnable> writes = new ArrayDeque<>();

  private DamagedLogGroups marks() {
    return new DamagedLogGroups(temp, forced::add, Runnable::run);
  }

  private LogGroup opened(DamagedLogGroups marks) {
    MemoryStore.Disk disk = new MemoryStore.Disk();
    LogNode log =
        new FakeCluster(1, "n1")
            .start(
                new LogSettings("n1", temp, List.of(), 1, 1, 1, 1),
                name ->
                    name.equals(LogNode.META)
                        ? States.meta(temp.resolve(name), disk::open)
                        : new DataState(
                            temp.resolve(name),
                            disk::open,
                            new HeapBodies(),
                            0,
                            FeatureLevel.reads(),
                            FeatureLevel::reads));
    for (LogGroup group : log.all()) {
      marks.watch(group);
    }
    return log.data().get(0);
  }

  @Test
  void whatWasFoundBeforeTheLogsWereOpenAndInAnEarlierRunCounts() {
    DamagedLogGroups marks = marks();
    marks.note("d0", "a bad block");
    marks.note("d0", "another");
    LogGroup group = opened(marks);
    assertThat(group.eligibility().reasons()).containsEntry(Reason.DAMAGED, "a bad block");
    assertThat(opened(marks()).eligibility().reasons())
        .containsEntry(Reason.DAMAGED, "a bad block");
  }

  @Test
  void whatTheLogFindsIsRememberedToo() {
    LogGroup group = opened(marks());
    group.eligibility().set(Reason.DISK_FULL, "full");
    assertThat(opened(marks()).eligibility().eligible()).isTrue();
    group.eligibility().set(Reason.DAMAGED, "entry 9");
    assertThat(opened(marks()).eligibility().reasons()).containsEntry(Reason.DAMAGED, "entry 9");
  }

  @Test
  void aMarkIsDurableWhenNotingReturns() {
    DamagedLogGroups marks =
        new DamagedLogGroups(
            temp,
            directory -> {
              assertThat(temp.resolve("damaged/d0")).exists();
              forced.add(directory);
            },
            Runnable::run);
    marks.note("d0", "a bad block");
    assertThat(forced).containsExactly(temp.resolve("damaged"), temp.toAbsolutePath());
  }

  /** Reasons change on event loops, too. */
  @Test
  void noThreadWaitsForTheDiskBecauseAReasonChanges() throws Exception {
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    DamagedLogGroups marks =
        new DamagedLogGroups(
            temp,
            directory -> {
              writing.countDown();
              await(mayEnd);
            },
            writes::add);
    LogGroup group = opened(marks);
    Thread disk = new Thread(() -> marks.note("d0", "a bad block"));
    disk.start();
    await(writing);
    group.eligibility().set(Reason.OUT_OF_VIEW, "cut off");
    assertThat(group.eligibility().reasons()).containsKeys(Reason.DAMAGED, Reason.OUT_OF_VIEW);
    mayEnd.countDown();
    disk.join();
    assertThat(writes).isEmpty();
  }

  @Test
  void whatTheLogFindsIsWrittenElsewhere() {
    LogGroup group = opened(new DamagedLogGroups(temp, forced::add, writes::add));
    group.eligibility().set(Reason.DAMAGED, "entry 9");
    assertThat(temp.resolve("damaged")).doesNotExist();
    writes.remove().run();
    assertThat(temp.resolve("damaged/d0")).hasContent("entry 9");
  }

  @Test
  void aMarkThatCannotBeReadCounts() throws IOException {
    Files.createDirectories(temp.resolve("damaged/d0"));
    assertThat(opened(marks()).eligibility().reasons().get(Reason.DAMAGED))
        .startsWith("the mark of earlier damage cannot be read");
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
