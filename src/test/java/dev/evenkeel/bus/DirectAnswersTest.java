package dev.evenkeel.bus;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.FrameSocket;
import dev.evenkeel.bus.frame.SessionFrame;
import io.netty.buffer.ByteBuf;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class DirectAnswersTest {
  private static final int BYTES = 100_000;

  /** In a field, since a client that nothing refers to is closed by the garbage collector. */
  private NetClient client;

  private static Buffer answer(int bytes, long seed) {
    ByteBuffer memory = DirectAnswers.memory(bytes);
    byte[] random = new byte[bytes];
    new Random(seed).nextBytes(random);
    return DirectAnswers.answer(memory.put(random).flip());
  }

  @Test
  void smallAndVeryLargeAnswersStayInTheHeap() {
    assertThat(DirectAnswers.memory(DirectAnswers.BYTES_MIN - 1).hasArray()).isTrue();
    assertThat(DirectAnswers.memory(DirectAnswers.BYTES_MIN).isDirect()).isTrue();
    assertThat(DirectAnswers.memory(DirectAnswers.BYTES_MAX).isDirect()).isTrue();
    assertThat(DirectAnswers.memory(DirectAnswers.BYTES_MAX + 1).hasArray()).isTrue();
  }

  @Test
  void memoryThatWasReturnedServesTheNextAnswer() {
    Buffer first = answer(BYTES, 1);
    ByteBuf bytes = DirectAnswers.sentOnce(first);
    assertThat(first.length()).isEqualTo(BYTES);
    DirectAnswers.release(first);
    assertThat(bytes.refCnt()).isZero();
    ByteBuffer again = DirectAnswers.memory(BYTES / 2);
    assertThat(again.position()).isZero();
    assertThat(again.remaining()).isEqualTo(BYTES / 2);
  }

  @Test
  void otherBuffersMayBeSentAgain() {
    Buffer other = Buffer.buffer(new byte[BYTES]);
    assertThat(DirectAnswers.sentOnce(other)).isNull();
    DirectAnswers.release(other);
    assertThat(other.length()).isEqualTo(BYTES);
  }

  @Test
  void theEventBusCopiesAnAnswerAndReturnsItsMemory() {
    Buffer answer = answer(BYTES, 2);
    Buffer expected = answer.copy();
    ByteBuf bytes = DirectAnswers.sentOnce(answer);
    Buffer wire = Buffer.buffer();
    FrameCodec codec = new FrameCodec();
    codec.encodeToWire(wire, answer);
    assertThat(bytes.refCnt()).isZero();
    assertThat(codec.decodeFromWire(0, wire)).isEqualTo(expected);
  }

  /** Many answers in flight, so that memory is used again while others are still being sent. */
  @Test
  void theSocketWritesThemAsTheyAreAndReturnsTheirMemory() {
    Vertx vertx = Vertx.vertx();
    try {
      int frames = 200;
      List<Buffer> received = new CopyOnWriteArrayList<>();
      List<ByteBuf> sent = new CopyOnWriteArrayList<>();
      NetServer server =
          await(
              vertx
                  .createNetServer()
                  .connectHandler(
                      socket -> {
                        FrameSocket out = new FrameSocket(socket, DirectAnswers.BYTES_MAX);
                        for (int i = 0; i < frames; i++) {
                          Buffer answer = answer(BYTES + i, i);
                          sent.add(DirectAnswers.sentOnce(answer));
                          out.send(FrameKind.ANSWER, i, answer);
                        }
                      })
                  .listen(0, "127.0.0.1"));
      client = vertx.createNetClient();
      vertx.runOnContext(
          now ->
              client
                  .connect(server.actualPort(), "127.0.0.1")
                  .onSuccess(socket -> collect(socket, received)));
      await().until(() -> received.size() == frames);
      for (int i = 0; i < frames; i++) {
        byte[] random = new byte[BYTES + i];
        new Random(i).nextBytes(random);
        assertThat(received.get(i)).as("frame " + i).isEqualTo(Buffer.buffer(random));
      }
      await().until(() -> sent.stream().allMatch(bytes -> bytes.refCnt() == 0));
    } finally {
      await(vertx.close());
    }
  }

  private static void collect(NetSocket socket, List<Buffer> received) {
    new FrameSocket(socket, DirectAnswers.BYTES_MAX)
        .onFrame((SessionFrame frame) -> received.add(frame.body()));
  }
}
