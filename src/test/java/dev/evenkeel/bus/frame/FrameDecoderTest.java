package dev.evenkeel.bus.frame;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FrameDecoderTest {
  private static final int BODY_BYTES_MAX = 1 << 20;

  private final FrameDecoder decoder = new FrameDecoder(BODY_BYTES_MAX, FrameRoom.ENDLESS);
  private final EmbeddedChannel channel = new EmbeddedChannel(decoder);

  private static Buffer frame(FrameKind kind, int correlation, byte[] body) {
    return Buffer.buffer()
        .appendInt(SessionFrame.HEAD_BYTES - 4 + body.length)
        .appendByte((byte) SessionFrame.VERSION)
        .appendByte((byte) kind.code())
        .appendInt(correlation)
        .appendBytes(body);
  }

  /** Everything that came out; each buffer that went in must have been released. */
  private List<Object> read(byte[]... chunks) {
    List<ByteBuf> all = new ArrayList<>();
    for (byte[] chunk : chunks) {
      ByteBuf in = Unpooled.directBuffer(Math.max(1, chunk.length)).writeBytes(chunk);
      all.add(in);
      channel.writeInbound(in);
    }
    assertThat(all).allMatch(in -> in.refCnt() == 0);
    List<Object> out = new ArrayList<>();
    for (Object next = channel.readInbound(); next != null; next = channel.readInbound()) {
      out.add(next);
    }
    return out;
  }

  @Test
  void framesComeWholeHoweverTheirBytesAreCut() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Buffer bytes = Buffer.buffer();
    List<SessionFrame> sent = new ArrayList<>();
    FrameKind[] kinds = FrameKind.values();
    // Longer than the first array, and than the one that it grows to.
    for (int length : new int[] {0, 1, 200, 70_000, 0, 600_000, BODY_BYTES_MAX, 3}) {
      byte[] body = new byte[length];
      random.nextBytes(body);
      FrameKind kind = kinds[random.nextInt(kinds.length)];
      int correlation = random.nextInt();
      bytes.appendBuffer(frame(kind, correlation, body));
      sent.add(new SessionFrame(kind, correlation, Buffer.buffer(body)));
    }
    List<byte[]> chunks = new ArrayList<>();
    for (int at = 0; at < bytes.length(); ) {
      int length = random.nextInt(4) == 0 ? 1 + random.nextInt(12) : random.nextInt(70_000);
      int end = Math.min(bytes.length(), at + length);
      chunks.add(bytes.getBytes(at, end));
      at = end;
    }
    assertThat(read(chunks.toArray(byte[][]::new))).as("seed %s", seed).isEqualTo(sent);
  }

  @Test
  void eachByteMayComeAlone() {
    byte[] bytes = frame(FrameKind.REQUEST, 7, new byte[] {1, 2, 3}).getBytes();
    byte[][] chunks = new byte[bytes.length][];
    times(bytes.length, i -> chunks[i] = new byte[] {bytes[i]});
    assertThat(read(chunks))
        .containsExactly(
            new SessionFrame(FrameKind.REQUEST, 7, Buffer.buffer(new byte[] {1, 2, 3})));
  }

  /** An alert is shorter than the head of a frame, so nobody may wait for the rest of one. */
  @Test
  void tlsIsCalledTls() {
    byte[] alert = {21, 3, 3, 0, 2, 2, 10};
    assertThat(read(alert)).singleElement().isInstanceOf(TlsInstead.class);
  }

  @Test
  void aClientThatBeginsTlsIsToldSo() {
    byte[] hello = {22, 3, 1, 2, 0, 1, 0, 1, (byte) 252, 3, 3};
    assertThat(read(hello)).singleElement().isInstanceOf(TlsInstead.class);
  }

  @Test
  void aMalformedFrameIsReportedInItsPlaceAndNothingComesAfterIt() {
    Buffer bytes =
        frame(FrameKind.PING, 1, new byte[0])
            .appendInt(2)
            .appendBytes(new byte[6])
            .appendBuffer(frame(FrameKind.PING, 2, new byte[0]));
    List<Object> out = read(bytes.getBytes(), frame(FrameKind.PING, 3, new byte[0]).getBytes());
    assertThat(out).hasSize(2);
    assertThat(out.get(0)).isEqualTo(new SessionFrame(FrameKind.PING, 1, Buffer.buffer()));
    Refused.is(Refusal.INVALID, (Throwable) out.get(1));
    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void theLongestBodyChangesForTheNextFrame() {
    decoder.bodyBytesMax(10);
    assertThat(read(frame(FrameKind.HELLO, 0, new byte[10]).getBytes())).hasSize(1);
    decoder.bodyBytesMax(20);
    assertThat(read(frame(FrameKind.REQUEST, 0, new byte[20]).getBytes())).hasSize(1);
    Object refused = read(frame(FrameKind.REQUEST, 0, new byte[21]).getBytes()).get(0);
    assertThat(refused)
        .isInstanceOfSatisfying(
            RefusedException.class,
            failure -> {
              assertThat(failure.refusal()).isEqualTo(Refusal.TOO_LARGE);
              assertThat(failure).hasMessageContaining("21 bytes: at most 20");
            });
  }

  /** A peer cannot make the other side keep more than a few times of what it sends. */
  @Test
  void anAnnouncedLengthTakesNoMemory() {
    // More than the heap of a test, if each held 64 KiB.
    List<EmbeddedChannel> all = new ArrayList<>();
    for (int i = 0; i < 17_000; i++) {
      var each = new EmbeddedChannel(new FrameDecoder(Integer.MAX_VALUE - 100, FrameRoom.ENDLESS));
      Buffer head = Buffer.buffer().appendInt(Integer.MAX_VALUE - 200);
      head.appendByte((byte) 1).appendByte((byte) 3).appendInt(1).appendByte((byte) 1);
      each.writeInbound(Unpooled.wrappedBuffer(head.getBytes()));
      Object inbound = each.readInbound();
      assertThat(inbound).isNull();
      all.add(each);
    }
    assertThat(all).hasSize(17_000);
  }

  /** Room for a number of bytes. */
  private static final class Some implements FrameRoom {
    int left;

    Some(int bytes) {
      left = bytes;
    }

    @Override
    public void take(int bytes) {
      if (bytes > left) {
        throw Refusal.OVERLOADED.error("%s bytes are left", left);
      }
      left -= bytes;
    }

    @Override
    public void give(int bytes) {
      left += bytes;
    }
  }

  @Test
  void framesThatHaveNotComeWholeShareRoom() {
    Some room = new Some(200_000);
    List<EmbeddedChannel> connections = new ArrayList<>();
    byte[] bytes = frame(FrameKind.REQUEST, 1, new byte[100_000]).getBytes();
    for (int i = 0; i < 3; i++) {
      EmbeddedChannel each = new EmbeddedChannel(new FrameDecoder(BODY_BYTES_MAX, room));
      each.writeInbound(Unpooled.wrappedBuffer(bytes, 0, 50_000));
      connections.add(each);
    }
    assertThat(room.left).isZero();
    Object refused = connections.get(2).readInbound();
    Refused.is(Refusal.OVERLOADED, (Throwable) refused);
    connections.get(0).writeInbound(Unpooled.wrappedBuffer(bytes, 50_000, bytes.length - 50_000));
    Object whole = connections.get(0).readInbound();
    assertThat(whole).isInstanceOf(SessionFrame.class);
    assertThat(room.left).isEqualTo(100_000);
    connections.get(1).close();
    assertThat(room.left).isEqualTo(200_000);
    connections.get(2).close();
    assertThat(room.left).isEqualTo(200_000);
  }

  @Test
  void smallFramesNeedNoRoom() {
    EmbeddedChannel each = new EmbeddedChannel(new FrameDecoder(BODY_BYTES_MAX, new Some(0)));
    each.writeInbound(Unpooled.wrappedBuffer(frame(FrameKind.PING, 1, new byte[4_096]).getBytes()));
    Object whole = each.readInbound();
    assertThat(whole).isInstanceOf(SessionFrame.class);
  }

  @Test
  void bodiesThatEndTooEarlyAreRefusedWhenTheyAreRead() {
    SessionFrame request = new SessionFrame(FrameKind.REQUEST, 1, Buffer.buffer());
    assertThatThrownBy(request::address).hasMessageContaining("ends too early");
    var noTimeout = new SessionFrame(FrameKind.REQUEST, 1, SessionFrame.addressed("evenkeel.view"));
    assertThat(noTimeout.address()).isEqualTo("evenkeel.view");
    assertThatThrownBy(noTimeout::timeoutMillis).hasMessageContaining("ends too early");
    assertThatThrownBy(noTimeout::requestBody).hasMessageContaining("ends too early");
    SessionFrame whole =
        new SessionFrame(
            FrameKind.REQUEST,
            1,
            SessionFrame.requestHead("evenkeel.view", 0xFFFFFFFFFL).appendString("body"));
    assertThat(whole.timeoutMillis()).isEqualTo(0xFFFFFFFFL);
    assertThat(whole.requestBody()).hasToString("body");
  }
}
