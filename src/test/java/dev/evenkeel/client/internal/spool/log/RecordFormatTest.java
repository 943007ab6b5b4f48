package dev.evenkeel.client.internal.spool.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Mutants;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class RecordFormatTest {
  @Property(tries = 500)
  void whatGoesInComesOut(@ForAll long seed) {
    List<SpoolRecord> records = Spools.anyRecords(new Random(seed));
    byte[] bytes = Spools.encode(records);
    List<SpoolRecord> read = readAll(bytes);
    assertThat(read).hasSameSizeAs(records);
    assertThat(Spools.encode(read)).isEqualTo(bytes);
  }

  @Property(tries = 500)
  void cutAnywhereTheWholeRecordsBeforeAreReadAndNoMore(@ForAll long seed) {
    Random random = new Random(seed);
    List<SpoolRecord> records = Spools.anyRecords(random);
    byte[] bytes = Spools.encode(records);
    int cut = random.nextInt(bytes.length + 1);
    List<SpoolRecord> read = readAll(Arrays.copyOf(bytes, cut));
    byte[] prefix = Spools.encode(read);
    assertThat(Arrays.copyOf(bytes, prefix.length)).isEqualTo(prefix);
    assertThat(prefix.length).isLessThanOrEqualTo(cut);
    byte[] oneMore =
        read.size() == records.size() ? bytes : Spools.encode(records.subList(0, read.size() + 1));
    assertThat(oneMore.length)
        .as("a whole record was there")
        .satisfiesAnyOf(
            length -> assertThat(length).isGreaterThan(cut),
            length -> assertThat(read).hasSameSizeAs(records));
  }

  /**
   * Whatever happens to the bytes: each record that is read is one that was written, in its order.
   */
  @Test
  void changedBytesAreNeverTakenForARecord() {
    long seed = Mutants.seed();
    Random random = new Random(seed);
    List<SpoolRecord> records = List.of();
    byte[] bytes = new byte[0];
    for (int mutant = 0; mutant < Mutants.COUNT; mutant++) {
      if (mutant % 50 == 0) {
        records = Spools.anyRecords(random);
        bytes = Spools.encode(records);
      }
      byte[] changed = Mutants.of(bytes, random);
      int at = 0;
      for (SpoolRecord read : readAll(changed)) {
        byte[] found = Spools.encode(List.of(read));
        while (at < records.size()
            && !Arrays.equals(Spools.encode(records.subList(at, at + 1)), found)) {
          at++;
        }
        assertThat(at++)
            .as("seed %d, mutant %d: a record that was never written", seed, mutant)
            .isLessThan(records.size());
      }
    }
  }

  @Property(tries = 2000)
  void garbageIsRefused(@ForAll byte[] garbage) {
    Fails.with(RefusedException.class, () -> RecordFormat.next(ByteBuffer.wrap(garbage)));
  }

  /** Another program's mistake: the checksum is right, and the inside is not. */
  @Property(tries = 3000)
  void aMalformedInsideIsRefused(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] bytes = Spools.encode(Spools.anyRecords(random).subList(0, 1));
    for (int i = 0; i < 3; i++) {
      bytes[RecordFormat.HEADER_BYTES + random.nextInt(bytes.length - RecordFormat.HEADER_BYTES)] =
          (byte) random.nextInt();
    }
    RecordFormat.seal(ByteBuffer.wrap(bytes), bytes.length - RecordFormat.HEADER_BYTES);
    try {
      RecordFormat.next(ByteBuffer.wrap(bytes));
    } catch (RefusedException refused) {
      assertThat(refused.refusal()).isIn(Refusal.INVALID, Refusal.WRONG_VERSION, Refusal.TOO_LARGE);
    }
  }

  @Test
  void aLengthThatCannotBeCostsNoMemory() {
    ByteBuffer bytes = ByteBuffer.allocate(100).putInt(0, Integer.MAX_VALUE);
    assertThatThrownBy(() -> RecordFormat.next(bytes)).hasMessageContaining("cannot have");
    Fails.saying(() -> RecordFormat.size(bytes.putInt(0, -1)), "cannot have");
    Fails.saying(() -> RecordFormat.size(bytes.putInt(0, 0)), "cannot have");
  }

  private static List<SpoolRecord> readAll(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    List<SpoolRecord> read = new ArrayList<>();
    try {
      while (in.hasRemaining()) {
        int before = in.position();
        read.add(RecordFormat.next(in));
        assertThat(in.position()).isGreaterThan(before);
      }
    } catch (RefusedException refused) {
      return read;
    }
    return read;
  }
}
