package dev.evenkeel.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batches with faults in them, as a broker would get them, and as a consumer would. */
class BatchFuzzTest {

  /** Whatever happens to the bytes: what is taken is what was written. */
  @Test
  @Timeout(900)
  void changedBytesAreNeverTakenForABatch() {
    long seed = Mutants.seed();
    Random random = new Random(seed);
    byte[] body = new byte[0];
    Set<ByteBuffer> written = new HashSet<>();
    int taken = 0;
    int refused = 0;
    for (int mutant = 0; mutant < Mutants.COUNT; mutant++) {
      if (mutant % 50 == 0) {
        Bytes out = new Bytes();
        written.clear();
        Compression any = Compression.values()[random.nextInt(Compression.values().length)];
        for (Batch batch : batches(random, any)) {
          written.add(batch.bytes());
          AppendBody.write(out, new Shard(random.nextInt(9), random.nextInt(9)), batch);
        }
        body = out.toArray();
      }
      try {
        for (AppendBody.Item item : AppendBody.read(ByteBuffer.wrap(Mutants.of(body, random)))) {
          Batch batch = item.batch().verified().checkMessages();
          assertThat(written)
              .as("seed %d, mutant %d: a batch that was never written", seed, mutant)
              .contains(batch.bytes());
          read(batch);
          taken++;
        }
      } catch (RefusedException expected) {
        refused++;
      }
    }
    assertThat(taken).isPositive();
    assertThat(refused).isGreaterThan(Mutants.COUNT / 2);
  }

  /**
   * Another program's mistake: the checksum is right, and the inside is not. A node takes a batch
   * if and only if it is what the protocol says, and then a consumer can read all of it.
   */
  @Test
  @Timeout(900)
  void aNodeTakesExactlyWhatAConsumerCanRead() {
    long seed = Mutants.seed();
    Random random = new Random(seed);
    List<Batch> batches = List.of();
    int refused = 0;
    int taken = 0;
    for (int mutant = 0; mutant < Mutants.COUNT; mutant++) {
      if (mutant % 50 == 0) {
        Compression[] all = Compression.values();
        batches = batches(random, all[random.nextInt(all.length)]);
      }
      Batch batch = mutant(batches.get(random.nextInt(batches.size())), random);
      String where = "seed " + seed + ", mutant " + mutant;
      List<Message> expected = WrittenMessages.of(batch);
      try {
        batch.checkMessages();
        assertThat(expected).as("%s: a node took it", where).isNotNull();
        assertReadable(where, batch, expected);
        taken++;
      } catch (RefusedException refusal) {
        assertThat(expected).as("%s: a node refused it: %s", where, refusal).isNull();
        assertThat(refusal.refusal()).as("%s: %s", where, refusal).isEqualTo(Refusal.INVALID);
        refused++;
      }
      readOrFail(batch);
    }
    assertThat(refused).isGreaterThan(Mutants.COUNT / 4);
    assertThat(taken).isGreaterThan(Mutants.COUNT / 20);
  }

  /** With a right checksum, whatever is in it. */
  private static Batch mutant(Batch original, Random random) {
    ByteBuffer header = original.bytes().slice(0, Batch.HEADER_BYTES);
    byte[] inside = new byte[original.length() - Batch.HEADER_BYTES];
    original.bytes().get(Batch.HEADER_BYTES, inside);
    byte[] changed = random.nextBoolean() ? Mutants.of(inside, random) : near(inside, random);
    ByteBuffer batch = ByteBuffer.allocate(Batch.HEADER_BYTES + changed.length);
    batch.put(header).put(changed).flip();
    batch.putInt(4, batch.limit());
    if (random.nextInt(4) == 0) {
      int most = original.isCompressed() ? Limits.BATCH_MESSAGES_MAX : Math.max(1, changed.length);
      int count = random.nextBoolean() ? 1 + random.nextInt(most) : 1 + random.nextInt(9);
      batch.putInt(32, Math.min(count, most));
    }
    batch.putInt(Batch.CRC_AT, Batch.crc(batch));
    return new Batch(batch).verified();
  }

  /** A change of few bytes that may well leave something that can be read. */
  private static byte[] near(byte[] inside, Random random) {
    byte[] changed = inside.clone();
    int at = random.nextInt(changed.length);
    switch (random.nextInt(4)) {
      case 0 -> changed[at] += (byte) (random.nextInt(5) - 2);
      case 1 -> changed[at] = (byte) random.nextInt(3);
      case 2 -> changed[at] = (byte) random.nextInt();
      default -> {
        // The same number in one byte more, or in several.
        int more = 1 + random.nextInt(random.nextBoolean() ? 2 : 9);
        changed = new byte[inside.length + more];
        System.arraycopy(inside, 0, changed, 0, at);
        System.arraycopy(inside, at, changed, at + more, inside.length - at);
        for (int i = 0; i < more; i++) {
          changed[at + i] = (byte) ((i == 0 ? inside[at] & 0x7F : 0) | 0x80);
        }
        changed[at + more] = (byte) (random.nextInt(4) == 0 ? random.nextInt(16) : 0);
      }
    }
    return changed;
  }

  private static void assertReadable(String where, Batch batch, List<Message> expected) {
    BatchReader reader = batch.reader(0);
    for (Message each : expected) {
      Message read = reader.next();
      assertThat(read.hasKey()).as(where).isEqualTo(each.hasKey());
      assertThat(read.key()).as(where).isEqualTo(each.key());
      assertThat(read.timestampMillis()).as(where).isEqualTo(each.timestampMillis());
      assertThat(read.headers()).as(where).containsExactlyEntriesOf(each.headers());
      assertThat(read.payloadBuffer()).as(where).isEqualTo(each.payloadBuffer());
      assertThat(read.detach().payload()).as(where).isEqualTo(each.payload());
      read.checkLimits();
    }
    assertThat(reader.hasNext()).as(where).isFalse();
  }

  /** Costs a refusal and bounded memory at worst. */
  private static void readOrFail(Batch batch) {
    try {
      read(batch);
    } catch (RefusedException refusal) {
      assertThat(refusal.refusal()).isEqualTo(Refusal.INVALID);
    }
  }

  private static void read(Batch batch) {
    int count = 0;
    for (BatchReader reader = batch.reader(0); reader.hasNext(); count++) {
      Message message = reader.next();
      assertThat(message.payload().length).isLessThanOrEqualTo(batch.unpackedLength());
    }
    assertThat(count).isEqualTo(batch.count());
  }

  private static List<Batch> batches(Random random, Compression compression) {
    List<Batch> batches = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0; i--) {
      BatchBuilder builder = new BatchBuilder(64, BatchPacker.of(compression));
      for (int k = random.nextInt(4); k >= 0; k--) {
        byte[] key = random.nextBoolean() ? null : bytes(random, 12);
        Map<String, byte[]> headers =
            random.nextBoolean() ? Map.of() : Map.of("header", bytes(random, 9));
        byte[] payload = random.nextBoolean() ? bytes(random, 80) : new byte[random.nextInt(300)];
        builder.add(new Message(key, headers, random.nextInt(1_000_000), payload));
      }
      batches.add(builder.build(random.nextInt(99), random.nextInt(9), random.nextInt(999)));
    }
    return batches;
  }

  private static byte[] bytes(Random random, int max) {
    byte[] bytes = new byte[random.nextInt(max)];
    random.nextBytes(bytes);
    return bytes;
  }
}
