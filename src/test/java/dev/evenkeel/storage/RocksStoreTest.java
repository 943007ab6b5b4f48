package dev.evenkeel.storage;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Fails;
import dev.evenkeel.storage.Store.Table;
import dev.evenkeel.util.Causes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RocksStoreTest {
  @TempDir Path temp;
  @Closing private RocksShared shared;
  @Closing private RocksStore store;

  @BeforeEach
  void open() throws IOException {
    shared = new RocksShared();
    store = RocksStore.open(temp.resolve("store"), shared);
  }

  @Test
  void aNewStoreHasAppliedNothing() {
    assertThat(store.appliedIndex()).isEqualTo(-1);
    assertThat(store.appliedTerm()).isZero();
    assertThat(store.get(Table.META, key("a"))).isNull();
  }

  @Test
  void changesAndPositionBecomeVisibleTogether() throws IOException {
    try (Store.Write write = store.begin()) {
      write.put(Table.META, key("a"), key("1"));
      write.put(Table.LEASES, key("a"), key("2"));
      assertThat(store.get(Table.META, key("a"))).isNull();
      write.commit(3, 7, null);
    }
    assertThat(store.get(Table.META, key("a"))).isEqualTo(key("1"));
    assertThat(store.get(Table.LEASES, key("a"))).isEqualTo(key("2"));
    assertThat(store.appliedIndex()).isEqualTo(7);
    assertThat(store.appliedTerm()).isEqualTo(3);
  }

  @Test
  void aWriteThatIsNotCommittedLeavesNothing() throws IOException {
    try (Store.Write write = store.begin()) {
      write.put(Table.META, key("a"), key("1"));
    }
    try (Store.Write write = store.begin()) {
      write.put(Table.META, key("b"), key("1"));
      write.commit(1, 0, null);
    }
    assertThat(store.get(Table.META, key("a"))).isNull();
    assertThat(store.get(Table.META, key("b"))).isNotNull();
  }

  @Test
  void scansKeepTheirBoundsInBothDirections() throws IOException {
    put(Table.INDEX, 0, "a", "b", "c", "d", "\u00ff");
    assertThat(keys(store.scan(Table.INDEX, key("b"), key("d")))).containsExactly("b", "c");
    assertThat(keys(store.scanBackward(Table.INDEX, key("b"), key("d")))).containsExactly("c", "b");
    assertThat(keys(store.scan(Table.INDEX, key("bb"), key("cc")))).containsExactly("c");
    assertThat(keys(store.scan(Table.INDEX, key("x"), key("y")))).isEmpty();
    assertThat(keys(store.scanBackward(Table.INDEX, key("a"), new byte[] {(byte) 0xff, 0})))
        .containsExactly("\u00ff", "d", "c", "b", "a");
  }

  @Test
  void aScanOfTheWholeTableDoesNotFillTheCache() throws IOException {
    Random random = new Random(1);
    try (Store.Write write = store.begin()) {
      for (int i = 0; i < 4_000; i++) {
        byte[] value = new byte[500];
        random.nextBytes(value);
        write.put(Table.INDEX, key("key" + i), value);
      }
      write.commit(1, 0, null);
    }
    // Flushes the table: what is in memory has no blocks.
    store.checkpoint(temp.resolve("checkpoint"));
    double before = shared.blockCacheBytes();
    assertThat(keys(store.scan(Table.INDEX, new byte[0], key("z")))).hasSize(4_000);
    assertThat(shared.blockCacheBytes() - before).isLessThan(1 << 20);
    assertThat(keys(store.scan(Table.INDEX, key("a"), key("z")))).hasSize(4_000);
    assertThat(shared.blockCacheBytes() - before).isGreaterThan(1 << 20);
  }

  @Test
  void aCursorSeesOneMoment() throws IOException {
    put(Table.INDEX, 0, "a", "b");
    try (Store.Cursor cursor = store.scan(Table.INDEX, key("a"), key("z"))) {
      put(Table.INDEX, 1, "c");
      List<String> seen = new ArrayList<>();
      while (cursor.next()) {
        seen.add(text(cursor.key()) + text(cursor.value()));
      }
      assertThat(seen).containsExactly("aa", "bb");
      assertThat(cursor.next()).isFalse();
    }
  }

  @Test
  void aDeletedRangeIsGoneAndItsFilesGoAfterACheckpoint() throws IOException {
    Random random = new Random(2);
    byte[] value = new byte[64 << 10];
    for (int i = 0; i < 100; i++) {
      random.nextBytes(value);
      try (Store.Write write = store.begin()) {
        write.put(Table.INDEX, key(String.format("%05d", i)), value);
        write.commit(1, i, null);
      }
    }
    store.checkpoint(temp.resolve("first"));
    long before = store.bytesOnDisk();
    try (Store.Write write = store.begin()) {
      write.deleteRange(Table.INDEX, key("00000"), key("00099"));
      write.commit(1, 100, null);
    }
    assertThat(keys(store.scan(Table.INDEX, key("0"), key("1")))).containsExactly("00099");
    assertThat(store.bytesOnDisk()).isGreaterThanOrEqualTo(before);

    try (Store.Write write = store.begin()) {
      write.deleteRange(Table.INDEX, key("00099"), key("1"));
      write.commit(1, 101, null);
    }
    store.checkpoint(temp.resolve("second"));
    await().until(() -> store.bytesOnDisk() < before / 10);
  }

  @Test
  void whatWasCommittedIsThereAfterClosing() throws IOException {
    put(Table.PRODUCERS, 5, "p");
    store.close();
    store = RocksStore.open(temp.resolve("store"), shared);
    assertThat(store.get(Table.PRODUCERS, key("p"))).isEqualTo(key("p"));
    assertThat(store.appliedIndex()).isEqualTo(5);
  }

  @Test
  void aCheckpointIsAStoreOfItsMoment() throws IOException {
    put(Table.META, 1, "a");
    store.checkpoint(temp.resolve("copy"));
    put(Table.META, 2, "b");
    StoreFiles.replace(temp.resolve("restored"), temp.resolve("copy"));
    StoreFiles.replace(temp.resolve("restored"), temp.resolve("copy"));
    try (RocksStore restored = RocksStore.open(temp.resolve("restored"), shared)) {
      assertThat(restored.appliedIndex()).isEqualTo(1);
      assertThat(restored.get(Table.META, key("a"))).isNotNull();
      assertThat(restored.get(Table.META, key("b"))).isNull();
      try (Store.Write write = restored.begin()) {
        write.put(Table.META, key("c"), key("c"));
        write.commit(1, 2, null);
      }
    }
    try (RocksStore copy = RocksStore.open(temp.resolve("copy"), shared)) {
      assertThat(copy.get(Table.META, key("c"))).isNull();
    }
  }

  @Test
  void usingAClosedStoreOrItsCursorsIsRefused() throws IOException {
    put(Table.META, 1, "a");
    Store.Cursor cursor = store.scan(Table.META, key("a"), key("z"));
    Store.Write write = store.begin();
    assertThat(cursor.next()).isTrue();
    store.close();
    assertThatThrownBy(cursor::next).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(cursor::value).isInstanceOf(IllegalStateException.class);
    cursor.close();
    assertThatThrownBy(() -> write.commit(1, 2, null)).isInstanceOf(IllegalStateException.class);
    write.close();
    Fails.with(IllegalStateException.class, () -> store.get(Table.META, key("a")), "is closed");
    Fails.with(IllegalStateException.class, () -> store.scan(Table.META, key("a"), key("z")));
    assertThatThrownBy(store::begin).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aDirectoryInUseOrDamagedIsRefusedInOneLine() throws IOException {
    assertThatThrownBy(() -> RocksStore.open(temp.resolve("store"), shared))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot open the store")
        .hasMessageContaining("another process");
    put(Table.META, 1, "a");
    store.close();
    try (Stream<Path> files = Files.list(temp.resolve("store"))) {
      each(files.filter(f -> f.toString().endsWith(".sst")).toList(), file -> Files.delete(file));
    }
    assertThatThrownBy(() -> RocksStore.open(temp.resolve("store"), shared))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot open the store");
  }

  @Test
  void aFlippedByteIsDamageAndAMissingFileToo() throws IOException {
    for (int bytes : new int[] {100, 10_000}) {
      for (boolean missing : new boolean[] {false, true}) {
        Path directory = temp.resolve("rotten-" + bytes + missing);
        try (RocksStore whole = RocksStore.open(directory, shared);
            Store.Write write = whole.begin()) {
          times(100, i -> write.put(Table.INDEX, key("k" + i), new byte[bytes]));
          write.commit(1, 1, null);
        }
        spoil(directory, missing);
        assertThatThrownBy(() -> readAll(directory))
            .satisfies(e -> assertThat(Causes.first(DamagedStoreException.class, e)).isNotNull());
      }
    }
    assertThat(
            Causes.first(DamagedStoreException.class, new IOException("x", new IOException("y"))))
        .isNull();
  }

  @Test
  void aCopyThatCannotBeWrittenIsNoDamageAndALostFileOfTheStoreIs() throws IOException {
    put(Table.META, 1, "a");
    store.checkpoint(temp.resolve("good"));
    Path file = Files.writeString(temp.resolve("file"), "no directory");
    for (Path copy : List.of(temp.resolve("missing").resolve("copy"), file.resolve("copy"))) {
      assertThatThrownBy(() -> store.checkpoint(copy))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(copy.toString())
          .satisfies(e -> assertThat(Causes.first(DamagedStoreException.class, e)).isNull());
    }
    spoil(temp.resolve("store"), true);
    assertThatThrownBy(() -> store.checkpoint(temp.resolve("next")))
        .satisfies(e -> assertThat(Causes.first(DamagedStoreException.class, e)).isNotNull());
  }

  /** The largest file: that with the values. */
  private static void spoil(Path directory, boolean missing) throws IOException {
    Path largest;
    try (Stream<Path> files = Files.list(directory)) {
      largest =
          files
              .filter(file -> file.toString().matches(".*[.]sst"))
              .max(Comparator.comparing(file -> file.toFile().length()))
              .orElseThrow();
    }
    if (missing) {
      Files.delete(largest);
      return;
    }
    byte[] bytes = Files.readAllBytes(largest);
    bytes[bytes.length / 3] ^= 1;
    Files.write(largest, bytes);
  }

  private void readAll(Path directory) throws IOException {
    try (RocksStore rotten = RocksStore.open(directory, shared);
        Store.Cursor cursor = rotten.scan(Table.INDEX, key("a"), key("z"))) {
      while (cursor.next()) {
        assertThat(cursor.value()).isNotEmpty();
      }
    }
  }

  @Test
  void notACheckpointIsNotRestored() throws IOException {
    Files.createDirectories(temp.resolve("nothing"));
    assertThatThrownBy(() -> StoreFiles.replace(temp.resolve("x"), temp.resolve("nothing")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not a checkpoint");
  }

  private void put(Table table, long index, String... keys) throws IOException {
    try (Store.Write write = store.begin()) {
      each(keys, key -> write.put(table, key(key), key(key)));
      write.commit(1, index, null);
    }
  }

  private static List<String> keys(Store.Cursor cursor) {
    try (cursor) {
      List<String> keys = new ArrayList<>();
      while (cursor.next()) {
        keys.add(text(cursor.key()));
      }
      return keys;
    }
  }

  private static byte[] key(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
