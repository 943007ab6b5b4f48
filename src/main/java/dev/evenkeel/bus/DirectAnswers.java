package dev.evenkeel.bus;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Memory outside the heap for large answers: a file is read into it and a socket writes it, without
 * a copy through the heap in between.
 *
 * <p>Whoever sends such an answer, sends it once, and then returns the memory with {@link
 * #release}: {@code FrameSocket} and {@link FrameCodec} do. An answer that is never sent is left to
 * the garbage collector.
 */
public final class DirectAnswers {
  /** For a smaller answer a copy costs less than a write of its own. */
  public static final int BYTES_MIN = 16 << 10;

  /** All have this size, so that each fits any answer. */
  public static final int BYTES_MAX = 1 << 20;

  /** Most memory that waits for the next answer: 32 MiB. */
  private static final int FREE_MAX = 32;

  /** The same in bytes. */
  public static final long KEPT_BYTES_MAX = (long) FREE_MAX * BYTES_MAX;

  private static final BlockingQueue<ByteBuffer> FREE = new ArrayBlockingQueue<>(FREE_MAX);

  private DirectAnswers() {}

  private static final class Lent extends UnpooledDirectByteBuf {
    private final ByteBuffer memory;

    Lent(ByteBuffer memory) {
      super(UnpooledByteBufAllocator.DEFAULT, memory, BYTES_MAX);
      this.memory = memory;
    }

    @Override
    protected void deallocate() {
      super.deallocate();
      FREE.offer(memory);
    }
  }

  /**
   * Memory for an answer of {@code bytes}: a buffer with that limit. It is in the heap unless the
   * length is between {@link #BYTES_MIN} and {@link #BYTES_MAX}.
   */
  public static ByteBuffer memory(int bytes) {
    if (bytes < BYTES_MIN || bytes > BYTES_MAX) {
      return ByteBuffer.allocate(bytes);
    }
    ByteBuffer free = FREE.poll();
    return (free == null ? ByteBuffer.allocateDirect(BYTES_MAX) : free).clear().limit(bytes);
  }

  /**
   * An answer that consists of memory outside the heap from {@link #memory}, up to its limit. The
   * memory must not be used any more after the answer was sent.
   */
  public static Buffer answer(ByteBuffer memory) {
    return BufferInternal.buffer(new Lent(memory.position(0)));
  }

  /**
   * The bytes of such an answer, to be written and then released; null for any other buffer, which
   * may be sent again.
   */
  public static ByteBuf sentOnce(Buffer buffer) {
    ByteBuf bytes = ((BufferInternal) buffer).getByteBuf();
    while (bytes != null && !(bytes instanceof Lent)) {
      bytes = bytes.unwrap();
    }
    return bytes;
  }

  /** Returns the memory of an answer that has been sent, or will not be. */
  public static void release(Buffer buffer) {
    ByteBuf bytes = sentOnce(buffer);
    if (bytes != null) {
      bytes.release();
    }
  }
}
