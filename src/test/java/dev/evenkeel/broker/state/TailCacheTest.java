package dev.evenkeel.broker.state;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class TailCacheTest {
  private final Batch batch = batch(0, 0, 0, 2);
  private final TailMemory memory = new TailMemory(1 << 20);
  private final TailCache cache = new TailCache(memory);

  private void add(Shard shard, long baseOffset) {
    cache.add(shard, baseOffset, batch.bytes(), 1);
  }

  private List<Long> read(long offset, int bytesMax) {
    return bases(cache.read(SHARD, offset, 100, bytesMax, 1_000));
  }

  private static List<Long> bases(TailRead found) {
    return found.batches().stream().map(TailCache.Cached::baseOffset).toList();
  }

  /** A batch with one message. */
  private static Batch one(int payloadBytes, long sequence) {
    BatchBuilder builder = new BatchBuilder(64 + payloadBytes);
    byte[] payload = new byte[payloadBytes];
    new Random(sequence).nextBytes(payload);
    builder.add(new Message(null, Map.of(), 5, payload));
    return builder.build(7, 1, sequence);
  }

  @Test
  void readsFromTheMiddleOfABatchAndWithinTheBytesAskedFor() {
    add(SHARD, 0);
    add(SHARD, 2);
    assertThat(read(1, 1 << 20)).containsExactly(0L, 2L);
    assertThat(read(1, 1)).containsExactly(0L);
    assertThat(read(3, 2 * batch.length())).containsExactly(2L);
    assertThat(read(4, 1)).isEmpty();
    assertThat(cache.read(OTHER, 0, 100, 1, 1_000).isEmpty()).isTrue();
  }

  @Test
  void whatIsAboveTheShownEndIsNotReadYet() {
    add(SHARD, 0);
    add(SHARD, 2);
    assertThat(cache.read(SHARD, 0, 2, 1 << 20, 1_000).endOffset()).isEqualTo(2);
    assertThat(cache.read(SHARD, 0, 4, 1 << 20, 1_000).size()).isEqualTo(2);
  }

  @Test
  void neverReadsAcrossAGap() {
    add(SHARD, 0);
    add(SHARD, 4);
    assertThat(read(0, 1 << 20)).containsExactly(0L);
    assertThat(read(3, 1 << 20)).isEmpty();
  }

  @Test
  void aRemovedShardAndAClearedLogGroupAreForgotten() {
    TailCache other = new TailCache(memory);
    add(SHARD, 0);
    other.add(OTHER, 0, batch.bytes(), 1);
    cache.follow(List.of(new Change.RemoveShard(SHARD)), 2, EntryBody.NONE);
    assertThat(read(0, 1 << 20)).isEmpty();
    assertThat(cache.bytes()).isZero();
    add(SHARD, 0);
    assertThat(read(0, 1 << 20)).containsExactly(0L);
    cache.clear();
    assertThat(read(0, 1 << 20)).isEmpty();
    assertThat(other.read(OTHER, 0, 100, 1 << 20, 1_000).size()).isEqualTo(1);
  }

  /**
   * Whatever the sizes: what is found is what was added, without a gap up to the newest batch, as
   * single batches and as the pieces that an answer consists of. The chunks are so small that
   * batches and their places lie across the borders.
   */
  @Property(tries = 200)
  void findsTheNewestBatchesOfEachShard(@ForAll Random random) {
    int chunkBytes = 32 << random.nextInt(4);
    long bytesMax = 4_096 + random.nextInt(8_192);
    TailMemory small = new TailMemory(bytesMax, chunkBytes);
    List<TailCache> groups = List.of(new TailCache(small), new TailCache(small));
    Map<Shard, List<Batch>> all = new HashMap<>();
    for (int i = 0; i < 300; i++) {
      int number = random.nextInt(4);
      Shard shard = new Shard(1, number);
      Batch added = one(random.nextInt(10) == 0 ? random.nextInt(1_000) : random.nextInt(40), i);
      List<Batch> of = all.computeIfAbsent(shard, any -> new ArrayList<>());
      groups.get(number % 2).add(shard, of.size(), added.bytes(), 1_000 + of.size());
      of.add(added);
      TailRead last = groups.get(number % 2).read(shard, of.size() - 1, of.size(), 1, 1);
      assertThat(bases(last)).containsExactly(of.size() - 1L);
      assertThat(small.bytes()).isLessThanOrEqualTo(bytesMax + 1_024);
    }
    all.forEach(
        (shard, of) -> {
          TailCache group = groups.get(shard.shard() % 2);
          boolean held = false;
          for (int offset = 0; offset < of.size(); offset++) {
            TailRead found = group.read(shard, offset, of.size(), 1 << 20, 1_000);
            assertThat(held && found.isEmpty()).isFalse();
            held = !found.isEmpty();
            if (held) {
              check(found, of, offset);
            }
          }
        });
  }

  private static void check(TailRead found, List<Batch> all, int from) {
    assertThat(found.messages()).isEqualTo(all.size() - from);
    assertThat(found.size()).isEqualTo(all.size() - from);
    List<TailCache.Cached> batches = found.batches();
    ByteArrayOutputStream placed = new ByteArrayOutputStream();
    ByteArrayOutputStream former = new ByteArrayOutputStream();
    int bytes = 0;
    for (int i = 0; i < batches.size(); i++) {
      Batch expected = all.get(from + i);
      assertThat(batches.get(i).baseOffset()).isEqualTo(from + i);
      assertThat(batches.get(i).logIndex()).isEqualTo(1_000 + from + i);
      assertThat(batches.get(i).batch().verified().bytes()).isEqualTo(expected.bytes());
      byte[] place = ByteBuffer.allocate(16).putLong(from + i).putLong(1_000L + from + i).array();
      placed.writeBytes(place);
      former.write(place, 0, 8);
      byte[] raw = new byte[expected.length()];
      expected.bytes().get(0, raw);
      placed.writeBytes(raw);
      former.writeBytes(raw);
      bytes += raw.length;
    }
    assertThat(found.bytes()).isEqualTo(bytes);
    assertThat(joined(found, true)).isEqualTo(placed.toByteArray());
    assertThat(joined(found, false)).isEqualTo(former.toByteArray());
  }

  private static byte[] joined(TailRead found, boolean placed) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int[] pieces = new int[1];
    found.each(
        placed,
        (memory, from, length) -> {
          out.write(memory, from, length);
          pieces[0]++;
        });
    assertThat(found.pieces(placed)).isEqualTo(pieces[0]);
    return out.toByteArray();
  }

  /** A reader keeps what it has found, however much is added meanwhile. */
  @Test
  void whatWasFoundIsNeverOverwritten() throws InterruptedException {
    TailMemory small = new TailMemory(16 << 10, 1 << 10);
    TailCache group = new TailCache(small);
    AtomicBoolean adding = new AtomicBoolean(true);
    Thread writer =
        new Thread(
            () -> {
              times(20_000, i -> group.add(SHARD, i, one(i % 300, i).bytes(), i));
              adding.set(false);
            });
    writer.start();
    List<TailRead> kept = new ArrayList<>();
    try {
      while (adding.get()) {
        TailRead newest = TailRead.NONE;
        for (long offset = 19_999; newest.isEmpty() && offset >= 0; offset -= 7) {
          newest = group.read(SHARD, offset, 20_000, 4_096, 1_000);
        }
        newest.batches().forEach(each -> verify(each));
        if (kept.size() < 100) {
          kept.add(newest);
        }
      }
    } finally {
      writer.join();
    }
    kept.forEach(read -> read.batches().forEach(TailCacheTest::verify));
  }

  private static void verify(TailCache.Cached each) {
    assertThat(each.batch().verified().firstSequence()).isEqualTo(each.baseOffset());
    assertThat(each.logIndex()).isEqualTo(each.baseOffset());
  }

  /**
   * The limit is one of the heap, and not of payloads: batches of one message of one byte take what
   * the cache says, and no object each. What adding allocates bounds what can be held.
   */
  @Test
  void theSmallestBatchesTakeNoMoreHeapThanTheLimit() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Batch smallest = one(1, 0);
    long bytesMax = 4 << 20;
    TailMemory node = new TailMemory(bytesMax);
    List<TailCache> groups = new ArrayList<>();
    times(10, i -> groups.add(new TailCache(node)));
    int count = 0;
    Shard[] shards = new Shard[groups.size()];
    times(shards.length, i -> shards[i] = new Shard(1, i));
    long[] offsets = new long[shards.length];
    long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    // As many as fit, and so nothing is dropped.
    int all = (int) (bytesMax * 8 / 10 / (smallest.length() + TailMemory.PLACE_BYTES + 8));
    for (; count < all; count++) {
      int group = count % shards.length;
      groups.get(group).add(shards[group], offsets[group]++, smallest.bytes(), 1);
    }
    long allocated = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    assertThat(count).isGreaterThan(40_000);
    for (int i = 0; i < shards.length; i++) {
      assertThat(groups.get(i).read(shards[i], 0, offsets[i], 100, 1).isEmpty()).isFalse();
    }
    assertThat(node.bytes()).isBetween(bytesMax / 2, bytesMax);
    // The arrays of numbers grow by doubling, and what they replace is allocated, too.
    assertThat(allocated).isLessThan(node.bytes() + node.bytes() / 4);
  }
}
