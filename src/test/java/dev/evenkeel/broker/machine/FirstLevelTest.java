package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.storage.MemoryStore;
import dev.evenkeel.storage.Store;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * Entries of level 1 come to the same rows as in the first build, until the first entry above: see
 * ADR 21. {@code first-level.gz} was made by the classes of that build (commit 0b5499a), which
 * applied random entries of every kind to its DataState and MetaState in a MemoryStore, with clocks
 * that jump both ways. For each entry it holds {@code u8 group (0: data, 1: meta), i32 length,
 * entry, u8[8] hash}, and a 255 at its end; the hash is the beginning of the SHA-256 of all rows of
 * the group, see {@link #hash}. Nothing in a later build can make it anew, nor need it be: the
 * entries and outcomes of level 1 do not change any more.
 */
class FirstLevelTest {
  private final MemoryStore.Disk disk = new MemoryStore.Disk();
  private final Path directory = Path.of("target", "first-level");
  private StoredState<?, ?>[] states = new StoredState<?, ?>[2];

  private void open() throws IOException {
    states =
        new StoredState<?, ?>[] {
          States.data(directory.resolve("d0"), disk::open, 1 << 20),
          States.meta(directory.resolve("meta"), disk::open)
        };
    for (StoredState<?, ?> each : states) {
      each.open();
    }
  }

  @Test
  void everyEntryComesToTheRowsOfTheFirstBuild() throws Exception {
    open();
    int applied = 0;
    try (DataInputStream in =
        new DataInputStream(
            new GZIPInputStream(FirstLevelTest.class.getResourceAsStream("/first-level.gz")))) {
      for (int group = in.read(); group != 255; group = in.read()) {
        byte[] entry = in.readNBytes(in.readInt());
        byte[] hash = in.readNBytes(8);
        StoredState<?, ?> state = states[group];
        Entries.apply(state, 1, state.appliedIndex() + 1, ByteBuffer.wrap(entry));
        assertThat(HexFormat.of().formatHex(hash(state)))
            .as("after entry %d, %s", applied, text(group, entry))
            .isEqualTo(HexFormat.of().formatHex(hash));
        if (++applied % 500 == 0) {
          for (StoredState<?, ?> each : states) {
            each.close();
          }
          open();
        }
      }
    }
    assertThat(applied).isGreaterThan(2_500);
    assertThat(states[0].failedDecisions() + states[1].failedDecisions()).isZero();
    assertThat(states[0].read(Store::appliedNote)).as("the first build knows no notes").isNull();

    // And from the first entry above on, nothing of the sort.
    long now = 1_800_000_000_000L;
    for (byte[] entry :
        new byte[][] {
          Entry.of(new DataCommand.RaiseFeatureLevel(2), now),
          Entry.of(new DataCommand.OpenProducer(77, 0), now + 1)
        }) {
      Entries.apply(states[0], 1, states[0].appliedIndex() + 1, ByteBuffer.wrap(entry));
    }
    DataState data = (DataState) states[0];
    assertThat(data.tables().timeAt(now + 1_000_000).millis()).isEqualTo(now + 120_001);
    Entries.apply(
        states[1],
        1,
        states[1].appliedIndex() + 1,
        ByteBuffer.wrap(Entry.of(new MetaCommand.RaiseFeatureLevel(2), now)));
    Entries.apply(
        states[1],
        1,
        states[1].appliedIndex() + 1,
        ByteBuffer.wrap(Entry.of(new MetaCommand.AddActiveTime(5), now)));
    assertThat(((MetaState) states[1]).tables().counters().activeMillis()).isEqualTo(5);
  }

  private static String text(int group, byte[] entry) {
    Entry read = Entry.read(ByteBuffer.wrap(entry));
    if (read.type() == Entry.APPEND) {
      return "an append";
    }
    ByteReader body = new ByteReader(read.body());
    return String.valueOf(group == 0 ? CommandCodec.data(body) : CommandCodec.meta(body));
  }

  /** Of all rows, table by table: the table's name, and of each key and value the length first. */
  private static byte[] hash(StoredState<?, ?> state) {
    return state.read(
        store -> {
          MessageDigest sha = sha();
          for (Store.Table table : Store.Table.values()) {
            sha.update(table.name().getBytes(StandardCharsets.UTF_8));
            byte[] last = new byte[64];
            Arrays.fill(last, (byte) 0xFF);
            try (Store.Cursor cursor = store.scan(table, new byte[0], last)) {
              while (cursor.next()) {
                add(sha, cursor.key());
                add(sha, cursor.value());
              }
            }
          }
          return Arrays.copyOf(sha.digest(), 8);
        });
  }

  private static void add(MessageDigest sha, byte[] bytes) {
    sha.update(ByteBuffer.allocate(4).putInt(0, bytes.length));
    sha.update(bytes);
  }

  private static MessageDigest sha() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }
}
