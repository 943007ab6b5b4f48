package dev.evenkeel.client.internal.produce;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Futures;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.Producers;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.BatchReader;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.nio.ByteBuffer;
import java.util.Enumeration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An application whose class path lacks the libraries that compress. */
class MissingLibraryTest {
  private static final List<Compression> COMPRESSED = List.of(Compression.LZ4, Compression.ZSTD);
  private static final int MESSAGES = 9;

  private final ClassLoader without = new Without();

  /** Loads every class anew, except those of the two libraries, which it does not find. */
  private static final class Without extends ClassLoader {
    private final ClassLoader all = MissingLibraryTest.class.getClassLoader();

    Without() {
      super(ClassLoader.getPlatformClassLoader());
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      boolean missing = name.startsWith("net.jpountz.") || name.startsWith("com.github.luben.");
      try (InputStream in = all.getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (missing || in == null) {
          throw new ClassNotFoundException(name);
        }
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    protected URL findResource(String name) {
      return all.getResource(name);
    }

    @Override
    protected Enumeration<URL> findResources(String name) throws IOException {
      return all.getResources(name);
    }
  }

  private static String advice(Compression compression) {
    return compression == Compression.LZ4
        ? "INVALID: compression lz4 needs a library: add the Maven dependency"
            + " at.yawk.lz4:lz4-java to this program"
        : "INVALID: compression zstd needs a library: add the Maven dependency"
            + " com.github.luben:zstd-jni to this program";
  }

  @Test
  void whatIsNotCompressedNeedsNone() throws Throwable {
    assertThat(call("read", batch(Compression.NONE))).isEqualTo(MESSAGES);
  }

  @Test
  void aReaderSaysWhichDependencyIsMissing() {
    for (Compression compression : COMPRESSED) {
      // Twice: the second answer must not be another one.
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> call("read", batch(compression))).hasToString(advice(compression));
        assertThatThrownBy(() -> call("check", batch(compression)))
            .hasToString(advice(compression));
      }
    }
  }

  @Test
  void aProducerSaysWhichDependencyIsMissingWhenItStarts() {
    for (Compression compression : COMPRESSED) {
      assertThatThrownBy(() -> call("produce", compression.name()))
          .hasToString(advice(compression));
    }
  }

  private static byte[] batch(Compression compression) {
    BatchBuilder builder = new BatchBuilder(64, BatchPacker.of(compression));
    times(MESSAGES, i -> builder.add(new Message(null, null, 0, new byte[20])));
    Batch batch = builder.build(1, 0, 0);
    assertThat(batch.compression()).isEqualTo(compression);
    return batch.bytes().array();
  }

  private Object call(String name, Object argument) throws Throwable {
    Class<?> there = Class.forName(There.class.getName(), true, without);
    Method method = there.getDeclaredMethod(name, argument.getClass());
    method.setAccessible(true);
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(without);
    try {
      return method.invoke(null, argument);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /** Runs in the other class loader. */
  static final class There {
    private There() {}

    static int read(byte[] bytes) {
      Batch batch = Batch.next(ByteBuffer.wrap(bytes)).verified().checkMessages();
      int messages = 0;
      for (BatchReader reader = batch.reader(0); reader.hasNext(); messages++) {
        reader.next();
      }
      return messages;
    }

    static void check(byte[] bytes) {
      Batch.next(ByteBuffer.wrap(bytes)).verified().checkMessages().requireLibrary();
    }

    static void produce(String compression) {
      ProducerOptions options =
          new ProducerOptions().setTopic("t").setCompression(Compression.valueOf(compression));
      Vertx vertx = Vertx.vertx();
      try {
        Futures.await(Producers.start(new FakeLink(vertx), null, options));
      } finally {
        Futures.await(vertx.close());
      }
    }
  }
}
