package dev.evenkeel.protocol.wire;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BatchMessagesTest {
  private static Message message(int number, int size) {
    byte[] key = number % 3 == 0 ? null : new byte[number % 5];
    Map<String, byte[]> headers = number % 4 == 0 ? Map.of("n", new byte[] {1}) : Map.of();
    return new Message(key, headers, 1_000 + number, new byte[size]);
  }

  private static Batch batch(List<Integer> sizes, Compression compression) {
    BatchBuilder builder = new BatchBuilder(64, BatchPacker.of(compression));
    times(sizes.size(), i -> builder.add(message(i, sizes.get(i))));
    return builder.build(1, 0, 0);
  }

  private static PlacedBatch placed(long base, Batch batch) {
    return new PlacedBatch(base, batch.bytes().array());
  }

  private static void assertSame(Message found, Message wanted) {
    assertThat(MessageCodec.encode(found)).isEqualTo(MessageCodec.encode(wanted));
  }

  @Property(tries = 100)
  void anyMessageIsFound(
      @ForAll @Size(min = 1, max = 20) List<@IntRange(max = 300) Integer> sizes,
      @ForAll Compression compression) {
    Batch batch = batch(sizes, compression);
    for (int i = 0; i < sizes.size(); i++) {
      List<PlacedBatch> batches = List.of(placed(1_000, batch), placed(40, batch));
      BatchMessages found = new BatchMessages(batches, Set.of(40L + i));
      assertSame(found.at(40 + i), message(i, sizes.get(i)));
      assertThat(found.fault(40 + i)).isNull();
      if (!batch.isCompressed()) {
        assertSame(batch.message(i), message(i, sizes.get(i)));
      }
    }
  }

  @Property(tries = 100)
  void aMalformedMessageHidesThoseBehindIt(
      @ForAll @Size(min = 1, max = 20) List<@IntRange(max = 300) Integer> sizes,
      @ForAll @IntRange(max = 19) int broken) {
    Batch batch = batch(sizes, Compression.NONE);
    int count = batch.count();
    batch.bytes().putInt(32, count + 1);
    Batch read = new Batch(batch.bytes()).stamped(1, 0, 0);
    int at = Math.min(broken, count - 1);
    assertSame(read.message(at), message(at, sizes.get(at)));
    assertThatThrownBy(() -> read.message(count)).isInstanceOf(MalformedException.class);
    BatchMessages found = new BatchMessages(List.of(placed(5, read)), Set.of(5L + at, 5L + count));
    assertSame(found.at(5 + at), message(at, sizes.get(at)));
    assertThat(found.fault(5 + count)).isNotNull();
    assertThat(found.at(5 + count).payload()).as("to look at").hasSize(read.length());
  }

  @Test
  void damageAndMissingBatchesAreRefused() {
    Batch batch = batch(List.of(1, 2, 3), Compression.NONE);
    assertThatThrownBy(() -> new BatchMessages(List.of(placed(0, batch)), Set.of(3L)))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("offset 3");
    batch.bytes().put(60, (byte) (batch.bytes().get(60) + 1));
    Refused.with(Refusal.CORRUPT, () -> new BatchMessages(List.of(placed(0, batch)), Set.of(1L)));
  }

  @Test
  void anAnswerWithoutBatchesIsAsFormerReadersKnowIt() {
    RetryAnswer answer = new RetryAnswer(5, List.of(), null, List.of());
    byte[] bytes = RetryAnswer.CODEC.encode(answer);
    assertThat(bytes).hasSize(8 + 4 + 1);
    assertThat(RetryAnswer.CODEC.decode(bytes)).isEqualTo(answer);
    DeadLettersAnswer none = new DeadLettersAnswer(List.of(), List.of());
    assertThat(DeadLettersAnswer.CODEC.encode(none)).hasSize(4);
  }
}
