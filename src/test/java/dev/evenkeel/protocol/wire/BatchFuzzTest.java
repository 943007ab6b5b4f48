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

  /** Another program's mistake: the checksum is right, and the inside is not. */
  @Test
  @Timeout(900)
  void aMalformedInsideCostsARefusalAndBoundedMemory() {
    long seed = Mutants.seed();
    Random random = new Random(seed);
    List<Batch> batches = List.of();
    int refused = 0;
    for (int mutant = 0; mutant < Mutants.COUNT; mutant++) {
      if (mutant % 50 == 0) {
        // Whether the inside of a compressed batch can be read is not known when it is taken.
        batches = batches(random, Compression.NONE);
      }
      ByteBuffer original = batches.get(random.nextInt(batches.size())).bytes();
      byte[] inside = new byte[original.limit() - Batch.HEADER_BYTES];
      original.get(Batch.HEADER_BYTES, inside);
      byte[] changed = Mutants.of(inside, random);
      ByteBuffer batch = ByteBuffer.allocate(Batch.HEADER_BYTES + changed.length);
      batch.put(original.slice(0, Batch.HEADER_BYTES)).put(changed).flip();
      batch.putInt(4, batch.limit());
      if (random.nextInt(4) == 0) {
        batch.putInt(32, random.nextInt(Limits.BATCH_MESSAGES_MAX + 2));
      }
      batch.putInt(Batch.CRC_AT, Batch.crc(batch));
      boolean admitted = false;
      try {
        Batch whole = Batch.next(batch).verified();
        admitted = isAdmitted(whole);
        read(whole);
      } catch (RefusedException refusal) {
        assertThat(admitted)
            .as("seed %d, mutant %d: a broker took it: %s", seed, mutant, refusal)
            .isFalse();
        assertThat(refusal.refusal())
            .as("seed %d, mutant %d: %s", seed, mutant, refusal)
            .isIn(Refusal.INVALID, Refusal.TOO_LARGE);
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(Mutants.COUNT / 4);
  }

  private static boolean isAdmitted(Batch batch) {
    try {
      batch.checkMessages();
      return true;
    } catch (RefusedException refusal) {
      return false;
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
