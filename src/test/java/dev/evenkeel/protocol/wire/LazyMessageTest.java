package dev.evenkeel.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import dev.evenkeel.protocol.Message;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Messages as readers of batches give them. */
class LazyMessageTest {
  private static Message random(Random random) {
    byte[] key = random.nextInt(3) == 0 ? null : bytes(random, 20);
    Map<String, byte[]> headers = new LinkedHashMap<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      headers.put("name " + (char) random.nextInt(0x500), bytes(random, 30));
    }
    long timestamp = random.nextLong() >> random.nextInt(64);
    return new Message(key, headers, timestamp, bytes(random, 400));
  }

  private static byte[] bytes(Random random, int max) {
    byte[] bytes = new byte[random.nextInt(max)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] content(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private static void assertSame(Message found, Message wanted) {
    assertThat(found.hasKey()).isEqualTo(wanted.hasKey());
    assertThat(found.key()).isEqualTo(wanted.key());
    assertThat(found.keyText()).isEqualTo(wanted.keyText());
    assertThat(found.timestampMillis()).isEqualTo(wanted.timestampMillis());
    assertThat(List.copyOf(found.headers().keySet()))
        .isEqualTo(List.copyOf(wanted.headers().keySet()));
    wanted
        .headers()
        .forEach((name, value) -> assertThat(found.headers().get(name)).isEqualTo(value));
    assertThat(found.payloadLength()).isEqualTo(wanted.payload().length);
    assertThat(content(found.payloadBuffer())).isEqualTo(wanted.payload());
    assertThat(found.payload()).isEqualTo(wanted.payload());
  }

  /** The same bytes in a buffer of another kind, and not at its beginning. */
  private static Batch elsewhere(Batch batch, Random random) {
    int before = random.nextInt(10);
    int capacity = before + batch.length() + random.nextInt(10);
    ByteBuffer in =
        random.nextBoolean() ? ByteBuffer.allocate(capacity) : ByteBuffer.allocateDirect(capacity);
    in.position(before).put(batch.bytes().duplicate());
    return Batch.next(in.position(before));
  }

  @Property(tries = 200)
  void aViewIsLikeTheMessageDetachedOrNot(@ForAll long seed) {
    Random random = new Random(seed);
    BatchBuilder builder = new BatchBuilder(64);
    List<Message> sent = new ArrayList<>();
    for (int i = 1 + random.nextInt(10); i > 0; i--) {
      Message message = random(random);
      sent.add(message);
      builder.add(message);
    }
    BatchReader reader = elsewhere(builder.build(1, 0, 0), random).reader(5);
    for (Message wanted : sent) {
      Message found = reader.next();
      if (random.nextBoolean()) {
        assertThat(found.detach()).isSameAs(found);
      }
      assertSame(found, wanted);
      assertSame(found.detach(), wanted);
      found.checkLimits();
    }
    assertThat(reader.hasNext()).isFalse();
  }

  private static Message view(Batch batch) {
    return batch.reader(0).next();
  }

  private static Batch one(Message message) {
    BatchBuilder builder = new BatchBuilder(64);
    builder.add(message);
    return builder.build(1, 0, 0);
  }

  @Test
  void whatWasAskedForStays() {
    byte[] key = "k".getBytes(StandardCharsets.UTF_8);
    Message view = view(one(new Message(key, Map.of("h", key), 1, new byte[] {1, 2})));
    byte[] payload = view.payload();
    assertThat(view.payload()).isSameAs(payload);
    assertThat(view.key()).isSameAs(view.key());
    assertThat(view.headers()).isSameAs(view.headers());
    view.detach();
    assertThat(view.payload()).isSameAs(payload);
    assertThat(view).hasToString("message of 2 bytes, key k");
  }

  @Test
  void nobodyChangesTheBatchThroughItsMessages() {
    Message view = view(one(new Message(null, null, 1, new byte[] {1, 2})));
    Fails.with(ReadOnlyBufferException.class, () -> view.payloadBuffer().put((byte) 9));
    Fails.with(ReadOnlyBufferException.class, () -> view.detach().payloadBuffer().put((byte) 9));
    assertThat(view.payloadBuffer().position()).isZero();
  }

  @Test
  void aDetachedMessageDoesNotNeedItsBatch() {
    Batch batch = one(new Message(new byte[] {5}, Map.of("h", new byte[] {6}), 1, new byte[] {7}));
    Message detached = view(batch).detach();
    Message attached = view(batch);
    for (int i = Batch.HEADER_BYTES; i < batch.length(); i++) {
      batch.bytes().put(i, (byte) 0);
    }
    assertThat(detached.key()).containsExactly(5);
    assertThat(detached.headers().get("h")).containsExactly(6);
    assertThat(detached.payload()).containsExactly(7);
    assertThat(detached.payloadBuffer().get()).isEqualTo((byte) 7);
    assertThat(attached.payload()).as("a view has nothing of its own").containsExactly(0);
  }

  @Test
  void aMessageThatAProducerMadeHasItsOwnArraysAnyway() {
    byte[] payload = {1, 2, 3};
    Message message = Message.of("k", 7, payload);
    assertThat(message.detach()).isSameAs(message);
    assertThat(message.payload()).isSameAs(payload);
    assertThat(message.payloadBuffer().remaining()).isEqualTo(3);
    assertThat(message.hasKey()).isTrue();
    assertThat(Message.of(null, 7, payload)).hasToString("message of 3 bytes");
  }
}
