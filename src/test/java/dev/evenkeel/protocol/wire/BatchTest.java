package dev.evenkeel.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class BatchTest {

  @Property(tries = 200)
  void whatGoesInComesOut(@ForAll("messages") List<Message> messages, @ForAll long baseSeed) {
    long base = Math.abs(baseSeed % 1_000_000_000_000L);
    Batch batch = build(messages, 77, 3, base);
    ByteBuffer twice = ByteBuffer.allocate(2 * batch.length() + 5);
    twice.put(batch.bytes().duplicate()).put(batch.bytes().duplicate()).put(new byte[5]).flip();

    for (int i = 0; i < 2; i++) {
      Batch read = Batch.next(twice).verified();
      assertThat(read.producerId()).isEqualTo(77);
      assertThat(read.producerEpoch()).isEqualTo(3);
      assertThat(read.firstSequence()).isEqualTo(base);
      assertThat(read.count()).isEqualTo(messages.size());
      assertThat(read.maxTimestampMillis())
          .isEqualTo(messages.stream().mapToLong(Message::timestampMillis).max().orElseThrow());
      BatchReader reader = read.reader(base);
      long offset = base;
      for (Message expected : messages) {
        assertThat(reader.nextOffset()).isEqualTo(offset++);
        Message actual = reader.next();
        assertThat(actual.key()).isEqualTo(expected.key());
        assertThat(actual.payload()).isEqualTo(expected.payload());
        assertThat(actual.timestampMillis()).isEqualTo(expected.timestampMillis());
        assertThat(actual.headers()).containsExactlyEntriesOf(expected.headers());
      }
      assertThat(reader.hasNext()).isFalse();
    }
    assertThat(twice.remaining()).isEqualTo(5);
  }

  /** To make up messages takes longer than to read them. */
  @Property(tries = 50)
  void aChangedBatchIsRefusedOrFailsItsChecksum(
      @ForAll("messages") List<Message> messages, @ForAll Random random) {
    Batch batch = build(messages, 1, 0, 0);
    for (int i = 0; i < 40; i++) {
      byte[] bytes = batch.bytes().array().clone();
      int at = random.nextInt(bytes.length);
      bytes[at] ^= (byte) (1 << random.nextInt(8));
      Fails.with(RefusedException.class, () -> Batch.next(ByteBuffer.wrap(bytes)).verified());
    }
  }

  @Property(tries = 50)
  void aTruncatedBatchIsRefused(@ForAll("messages") List<Message> messages, @ForAll Random random) {
    Batch batch = build(messages, 1, 0, 0);
    for (int i = 0; i < 10; i++) {
      int cut = random.nextInt(batch.length());
      ByteBuffer part = ByteBuffer.wrap(batch.bytes().array(), 0, cut);
      assertThatThrownBy(() -> Batch.next(part)).isInstanceOf(RefusedException.class);
      assertThat(part.position()).isZero();
    }
  }

  @Property(tries = 2000)
  void garbageIsRefusedWithoutACrash(@ForAll byte[] garbage) {
    Fails.with(RefusedException.class, () -> AppendBody.read(ByteBuffer.wrap(garbage)));
  }

  @Property(tries = 100)
  void delayedAndOtherBatchesOfARequestAreReadAsWritten(
      @ForAll("messages") List<Message> messages,
      @ForAll @LongRange(min = 1) long dueMillis,
      @ForAll Random random) {
    Batch batch = build(messages, 1, 0, 0);
    List<AppendBody.Item> items =
        List.of(
            new AppendBody.Item(new Shard(3, 0), batch, dueMillis),
            new AppendBody.Item(new Shard(3, 0), batch),
            new AppendBody.Item(new Shard(9, 9_999), batch, dueMillis));
    Bytes out = new Bytes();
    items.forEach(item -> AppendBody.write(out, item));
    byte[] bytes = out.toArray();
    List<AppendBody.Item> read = AppendBody.read(ByteBuffer.wrap(bytes));
    assertThat(read)
        .extracting(AppendBody.Item::shard, AppendBody.Item::dueMillis)
        .containsExactly(
            tuple(new Shard(3, 0), dueMillis),
            tuple(new Shard(3, 0), 0L),
            tuple(new Shard(9, 9_999), dueMillis));
    assertThat(read).allMatch(item -> item.batch().bytes().equals(batch.bytes()));
    int cut = bytes.length - 1 - random.nextInt(batch.length() + 15);
    assertThatThrownBy(() -> AppendBody.read(ByteBuffer.wrap(bytes, 0, cut).slice()))
        .isInstanceOf(RefusedException.class);
  }

  /** A batch whose checksum is right but whose inside is not: another program's mistake. */
  @Property(tries = 50)
  void aMalformedInsideIsRefused(
      @ForAll("messages") List<Message> messages, @ForAll Random random) {
    Batch batch = build(messages, 1, 0, 0);
    for (int i = 0; i < 40; i++) {
      byte[] bytes = batch.bytes().array().clone();
      for (int change = 0; change < 3; change++) {
        bytes[Batch.HEADER_BYTES + random.nextInt(bytes.length - Batch.HEADER_BYTES)] =
            (byte) random.nextInt();
      }
      ByteBuffer changed = ByteBuffer.wrap(bytes);
      changed.putInt(Batch.CRC_AT, Batch.crc(changed));
      Batch read = Batch.next(changed).verified();
      try {
        for (BatchReader reader = read.reader(0); reader.hasNext(); ) {
          reader.next();
        }
      } catch (RefusedException refused) {
        assertThat(refused.refusal()).isEqualTo(Refusal.INVALID);
      }
    }
  }

  @Test
  void anotherVersionIsRefusedByName() {
    byte[] bytes = build(List.of(message("k", "p")), 1, 0, 0).bytes().array().clone();
    bytes[2] = 9;
    Refused.with(Refusal.WRONG_VERSION, () -> Batch.next(ByteBuffer.wrap(bytes)), "version 9");
  }

  @Test
  void anOversizedLengthIsRefusedBeforeMemoryIsTaken() {
    byte[] bytes = build(List.of(message("k", "p")), 1, 0, 0).bytes().array().clone();
    ByteBuffer.wrap(bytes).putInt(4, Integer.MAX_VALUE);
    Refused.with(Refusal.TOO_LARGE, () -> Batch.next(ByteBuffer.wrap(bytes)));
  }

  @Test
  void oneMessageAtAllLimitsFitsIntoABatch() {
    Map<String, byte[]> headers = new LinkedHashMap<>();
    headers.put("h", new byte[Limits.HEADERS_BYTES_MAX - 1]);
    Message message =
        new Message(new byte[Limits.KEY_BYTES_MAX], headers, 0, new byte[Limits.PAYLOAD_BYTES_MAX]);
    message.checkLimits();
    assertThat(build(List.of(message), 1, 0, 0).length())
        .isLessThanOrEqualTo(Limits.BATCH_BYTES_MAX);
  }

  @Test
  void aMessageOverALimitIsRefusedAndTheLimitIsNamed() {
    Message message = new Message(null, null, 0, new byte[Limits.PAYLOAD_BYTES_MAX + 1]);
    assertThatThrownBy(message::checkLimits)
        .isInstanceOf(RefusedException.class)
        .hasMessage("payload of 1048577 bytes: at most 1048576 are allowed");
  }

  @Provide
  Arbitrary<List<Message>> messages() {
    Arbitrary<byte[]> bytes = Arbitraries.bytes().array(byte[].class).ofMaxSize(40);
    var headers = Arbitraries.maps(Arbitraries.strings().ofMaxLength(6), bytes).ofMaxSize(3);
    return Combinators.combine(
            bytes.injectNull(0.3), headers, Arbitraries.longs().between(-1L << 50, 1L << 50), bytes)
        .as(Message::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(20);
  }

  private static Batch build(List<Message> messages, long producer, int epoch, long sequence) {
    BatchBuilder builder = new BatchBuilder(64);
    int bound = Batch.HEADER_BYTES;
    for (Message message : messages) {
      builder.add(message);
      bound += BatchBuilder.sizeOf(message);
      assertThat(builder.bytes()).isLessThanOrEqualTo(bound);
    }
    return builder.build(producer, epoch, sequence);
  }

  private static Message message(String key, String payload) {
    return new Message(key.getBytes(), Map.of(), 1, payload.getBytes());
  }
}
