package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import dev.evenkeel.log.DamagedStateException;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.storage.RocksShared;
import dev.evenkeel.storage.RocksStore;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A byte of a table of the state flips on the disk. */
class RottenStateTest {
  private static final ByteRate FAST = new ByteRate(1L << 40);

  @TempDir Path temp;
  @Closing private final RocksShared shared = new RocksShared();
  private final List<String> reported = new ArrayList<>();

  private Path directory() {
    return temp.resolve("live/d0");
  }

  private DataState state() {
    DataState state =
        States.data(directory(), at -> RocksStore.open(at, shared), new HeapBodies(), 1 << 20);
    state.onDamage(reported::add);
    return state;
  }

  private static void apply(DataState state, long index) {
    Entries.apply(
        state, 1, index, ByteBuffer.wrap(Entry.of(new DataCommand.OpenProducer(index, 0), 1_000)));
  }

  private void flip() throws IOException {
    try (Stream<Path> files = Files.list(directory())) {
      for (Path file : files.filter(each -> each.toString().endsWith(".sst")).toList()) {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
          bytes.seek(10);
          int before = bytes.read();
          bytes.seek(10);
          bytes.write(before ^ 1);
        }
      }
    }
  }

  @Test
  void isFoundByACheckOfTheFiles() throws IOException {
    DataState state = state();
    state.open();
    apply(state, 1);
    state.snapshot(temp.resolve("snapshot"));
    state.checkFiles(FAST);
    assertThat(reported).isEmpty();
    flip();
    assertThatThrownBy(() -> state.checkFiles(FAST)).isInstanceOf(DamagedStateException.class);
    assertThat(reported).hasSize(1);
    state.close();
  }

  @Test
  void isSaidWhenTheStateIsOpenedAndAfterItsFilesWereMovedItIsEmpty() throws IOException {
    DataState state = state();
    state.open();
    apply(state, 1);
    state.close();
    flip();
    assertThatThrownBy(state::open).isInstanceOf(DamagedStateException.class);
    Path aside = Files.createDirectory(temp.resolve("aside"));
    state.setAside(aside);
    assertThat(aside.resolve("store/CURRENT")).exists();
    state.open();
    assertThat(state.appliedIndex()).isEqualTo(-1);
    assertThat(state.tables().producer(1)).isNull();
    apply(state, 1);
    assertThat(state.tables().producer(1)).isNotNull();
    state.close();
  }
}
