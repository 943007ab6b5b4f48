package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Golden;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.DelayedKey;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendHead;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.MemoryStore;
import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The head of a log entry that appends batches, what it comes to in the store, and the note beside
 * that keep their bytes; see {@link PinnedBytesTest} for every kind of command and row. Other bytes
 * need another feature level, or another format of {@code cluster.json}.
 */
class GoldenStateTest {
  private static final String FILE = "data/rows.txt";
  private static final HexFormat HEX = HexFormat.of();
  private static final long DUE = 1_000_500;

  /** At once, from two producers, and delayed. */
  private static final AppendBody.Item[] APPENDED = {
    new AppendBody.Item(SHARD, batch(7, 0, 0, 3)),
    new AppendBody.Item(SHARD, batch(0, 0, 0, 2)),
    new AppendBody.Item(SHARD, batch(7, 0, 3, 1), DUE)
  };

  private static byte[] head(long now) {
    Bytes head = Entry.appending(FeatureLevel.FIRST, now);
    Stream.of(APPENDED).forEach(item -> AppendHead.write(head, item));
    return head.toArray();
  }

  @Test
  void entriesComeToTheSameRows() throws IOException {
    Rig rig = Rig.opened();
    rig.grant("g", SHARD, "a", 0);
    assertThat(rig.append(APPENDED).results()).allMatch(result -> result.ok());
    StringBuilder text = new StringBuilder("HEAD " + HEX.formatHex(head(rig.now)) + "\n");
    text.append(rig.data.read(GoldenStateTest::rows));
    Golden.check(FILE, text.toString());
  }

  private static String rows(Store store) {
    StringBuilder text = new StringBuilder();
    for (Store.Table table : Store.Table.values()) {
      byte[] last = new byte[64];
      java.util.Arrays.fill(last, (byte) 0xFF);
      try (Store.Cursor cursor = store.scan(table, new byte[0], last)) {
        while (cursor.next()) {
          text.append(table).append(' ').append(HEX.formatHex(cursor.key()));
          text.append(' ').append(HEX.formatHex(cursor.value())).append('\n');
        }
      }
    }
    return text.append("NOTE ").append(HEX.formatHex(store.appliedNote())).append('\n').toString();
  }

  @Test
  void theRowsAreRead() throws IOException {
    List<String> lines = new ArrayList<>(Files.readAllLines(Golden.path(FILE)));
    byte[] head = HEX.parseHex(lines.remove(0).substring("HEAD ".length()));
    byte[] note = HEX.parseHex(lines.remove(lines.size() - 1).substring("NOTE ".length()));
    Path directory = Path.of("target", "golden-state", "d0");
    MemoryStore.Disk disk = new MemoryStore.Disk();
    try (Store.Write write = disk.open(directory).begin()) {
      for (String line : lines) {
        String[] row = line.split(" ");
        write.put(Store.Table.valueOf(row[0]), HEX.parseHex(row[1]), HEX.parseHex(row[2]));
      }
      write.commit(1, 2, note);
    }
    DataState state = States.data(directory, disk::open, 1 << 20);
    state.open();
    assertThat(state.tables().shard(SHARD).end()).isEqualTo(5);
    assertThat(state.tables().lease("g", SHARD).owner()).isEqualTo("a");
    assertThat(state.tables().delays().of(SHARD).messages()).isOne();
    assertThat(state.level()).isEqualTo(FeatureLevel.FIRST);
    StateDigest digest = state.digest();
    assertThat(digest.since()).isZero();
    assertThat(StateNote.decode(note).digest().sum()).isEqualTo(digest.sum()).isNotZero();

    List<AppendHead.Item> items = AppendHead.read(Entry.read(ByteBuffer.wrap(head)).body());
    assertThat(items).hasSize(APPENDED.length);
    IndexEntry second = state.read(store -> BatchIndex.at(store, SHARD, 4));
    assertThat(second.base()).isEqualTo(3);
    assertThat(second.place()).isEqualTo(place(items.get(1)));
    DelayedBatch delayed =
        state.read(
            store ->
                DelayedBatch.decode(
                    store.get(Store.Table.DELAYED, new DelayedKey(SHARD, DUE, 0).bytes())));
    assertThat(delayed.place()).isEqualTo(place(items.get(2)));
    assertThat(delayed.batch().count()).isOne();
    state.close();
  }

  private static BatchPlace place(AppendHead.Item item) {
    return new BatchPlace(2, item.at(), item.batch().crc());
  }
}
