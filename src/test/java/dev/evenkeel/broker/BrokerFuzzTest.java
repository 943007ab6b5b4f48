package dev.evenkeel.broker;

import static dev.evenkeel.broker.Bench.appendRequest;
import static dev.evenkeel.broker.Bench.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Mutants;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A broker that gets appends with faults in them answers each, and goes on. */
class BrokerFuzzTest {
  private static final int APPENDS = Math.max(2_000, Mutants.COUNT / 50);
  private static final int AT_ONCE = 50;

  @Test
  @Timeout(300)
  void everyAppendIsAnsweredAndNothingWrongIsInTheLog() throws Exception {
    long seed = Mutants.seed();
    try {
      attack(seed);
    } catch (Exception | AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  private static void attack(long seed) throws Exception {
    Random random = new Random(seed);
    try (Bench bench = Bench.one()) {
      Shard shard = new Shard(bench.create("t", 1).id(), 0);
      Batch batch = batch();
      byte[] good = appendRequest(shard, batch).getBytes();
      long taken = 0;
      for (int sent = 0; sent < APPENDS; sent += AT_ONCE) {
        List<Future<ByteBuffer>> answers = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
          byte[] changed = Mutants.of(good, random);
          // A fetch that waits for 15 s is another test's.
          if (changed.length > 1) {
            changed[1] = good[1];
          }
          answers.add(bench.send(Addresses.data("n1"), Buffer.buffer(changed)));
        }
        for (Future<ByteBuffer> answer : answers) {
          try {
            get(answer);
            taken++;
          } catch (RefusedException refused) {
            assertThat(refused).hasMessageNotContaining("internal error");
          }
        }
      }
      assertThat(taken).isLessThan(APPENDS);
      get(bench.append(shard, batch));
      bench.grant("g", shard, "m", 0);
      long offset = 0;
      FetchAnswer fetched;
      do {
        fetched = get(bench.fetch("g", shard, 1, offset, 0));
        for (FetchAnswer.Placed placed : fetched.batches()) {
          assertThat(placed.batch().verified().bytes()).isEqualTo(batch.bytes());
          offset = placed.endOffset();
        }
      } while (offset < fetched.endOffset());
      assertThat(offset).isPositive();
    }
  }

  private static Batch batch() {
    BatchBuilder builder = new BatchBuilder(64);
    builder.add(new Message(new byte[] {1, 2}, Map.of("h", new byte[] {3}), 5, new byte[] {4}));
    builder.add(new Message(null, Map.of(), 6, new byte[] {5, 6, 7}));
    return builder.build(0, 0, 0);
  }
}
