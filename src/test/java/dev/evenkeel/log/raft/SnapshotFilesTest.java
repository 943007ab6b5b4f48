package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotManifest.Entry;
import dev.evenkeel.util.files.ByteRate;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageDirectory;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotFilesTest {
  @TempDir Path temp;
  private final AtomicLong now = new AtomicLong(-7);
  private final SnapshotFiles files = new SnapshotFiles(now::get);
  private final SnapshotChecksums checksums = new SnapshotChecksums(new ByteRate(1L << 40));
  private final SnapshotRetentionPolicy two =
      new SnapshotRetentionPolicy() {
        @Override
        public int getNumSnapshotsRetained() {
          return 2;
        }
      };

  @BeforeEach
  void open() throws IOException {
    open(files, temp);
  }

  /** As the engine opens them, in this directory. */
  static void open(SnapshotFiles files, Path temp) throws IOException {
    var directory = proxy(RaftStorageDirectory.class, name -> temp.resolve(name).toFile());
    files.init(proxy(RaftStorage.class, name -> directory));
  }

  private interface Answers {
    Object to(String method);
  }

  private static <T> T proxy(Class<T> type, Answers answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, args) -> answers.to(method.getName())));
  }

  private SnapshotFiles.Snapshot take(long index, String... contents) throws IOException {
    TermIndex position = TermIndex.valueOf(1, index);
    Path staged = files.stage(position);
    times(contents.length, i -> Files.writeString(staged.resolve("file" + i), contents[i]));
    files.publish(position, staged);
    return files.latest();
  }

  private List<Long> kept() throws IOException {
    files.cleanupOldSnapshots(two);
    return files.all().stream().map(each -> each.position().getIndex()).toList();
  }

  @Test
  void aSnapshotThatAnotherNodeReadsIsKeptForAWhile() throws IOException {
    for (long index = 1; index <= 3; index++) {
      take(index);
    }
    assertThat(files.hold(TermIndex.valueOf(1, 1))).isNotNull();
    assertThat(kept()).containsExactly(1L, 2L, 3L);
    now.addAndGet(SnapshotFiles.HELD_NANOS - 1);
    files.hold(TermIndex.valueOf(1, 1));
    now.addAndGet(SnapshotFiles.HELD_NANOS - 1);
    assertThat(kept()).containsExactly(1L, 2L, 3L);
    now.addAndGet(2);
    assertThat(kept()).containsExactly(2L, 3L);
    assertThat(files.hold(TermIndex.valueOf(1, 1))).isNull();
  }

  /** The copy that a node gets anew may begin with an older snapshot than its former one had. */
  @Test
  void theFormerCopyOfAGroupDeletesNothingOfTheNextOne() throws IOException {
    take(2);
    take(3);
    files.hold(TermIndex.valueOf(1, 2));
    files.dropFormer();
    files.close();
    each(files.all(), each -> DurableFiles.deleteTree(each.directory()));
    SnapshotFiles next = new SnapshotFiles(now::get);
    open(next, temp);
    TermIndex older = TermIndex.valueOf(1, 1);
    next.publish(older, next.stage(older));
    now.addAndGet(SnapshotFiles.HELD_NANOS + 1);
    assertThat(files.letGo()).isFalse();
    assertThat(next.hold(older)).isNotNull();
  }

  @Test
  void aSnapshotIsKeptUntilItIsLetGo() throws IOException {
    for (long index = 1; index <= 3; index++) {
      take(index);
    }
    assertThat(files.pin(TermIndex.valueOf(1, 1))).isTrue();
    assertThat(kept()).containsExactly(1L, 2L, 3L);
    files.unpin(TermIndex.valueOf(1, 1));
    assertThat(files.all()).hasSize(2);
    assertThat(files.pin(TermIndex.valueOf(1, 1))).isFalse();
  }

  /** The engine says again that it keeps two, after the former one was dropped. */
  @Test
  void aDroppedSnapshotGoesWhenItIsLetGoWhateverTheEngineSays() throws IOException {
    take(1);
    take(2);
    files.pin(TermIndex.valueOf(1, 1));
    files.dropFormer();
    assertThat(kept()).containsExactly(1L, 2L);
    files.unpin(TermIndex.valueOf(1, 1));
    assertThat(files.all()).hasSize(1);
    take(3);
    assertThat(kept()).containsExactly(2L, 3L);
  }

  @Test
  void anOlderOneThatComesLateIsNotTheLatest() throws IOException {
    take(9);
    assertThat(take(5).position().getIndex()).isEqualTo(9);
  }

  @Test
  void theChecksumOfALinkedFileIsTakenOverAndAnotherFilesIsNot() throws Exception {
    SnapshotFiles.Snapshot first = take(1, "same", "old");
    SnapshotManifest before = checksums.describe(first, files.all());
    SnapshotFiles.Snapshot second = take(2);
    Files.createLink(second.directory().resolve("file0"), first.directory().resolve("file0"));
    Files.writeString(second.directory().resolve("file1"), "new");
    // Wrong on purpose: it shows that the file is not read again.
    Entry wrong = new Entry("file0", 4, 42);
    Files.write(
        first.directory().resolve(SnapshotChecksums.FILE),
        new SnapshotManifest(1, 1, List.of(wrong, before.files().get(1))).encode());

    SnapshotManifest after = checksums.describe(second, files.all());
    assertThat(after.files().get(0)).isEqualTo(wrong);
    assertThat(after.files().get(1).crc()).isNotEqualTo(before.files().get(1).crc());
    assertThat(SnapshotChecksums.read(second.directory())).isEqualTo(after);
  }

  @Test
  void aFileThatWasCutOffGetsAnotherChecksum() throws Exception {
    SnapshotFiles.Snapshot snapshot = take(1, "a long file");
    SnapshotManifest before = checksums.describe(snapshot, files.all());
    Files.writeString(snapshot.directory().resolve("file0"), "a long");
    SnapshotManifest after = checksums.describe(snapshot, files.all());
    assertThat(after.files().get(0).length()).isEqualTo(6);
    assertThat(after.files().get(0).crc()).isNotEqualTo(before.files().get(0).crc());
  }
}
