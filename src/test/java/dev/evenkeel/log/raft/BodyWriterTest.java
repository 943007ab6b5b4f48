package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.log.EntryBodies;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BodyWriterTest {
  private final List<String> done = Collections.synchronizedList(new ArrayList<>());
  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch held = new CountDownLatch(1);
  private volatile boolean broken;
  private final BodyWriter writer = new BodyWriter("d0", files(), failures::add);

  /** Files that write down what is done, the first time when the test says so. */
  private EntryBodies files() {
    return (EntryBodies)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {EntryBodies.class},
            (proxy, method, args) -> {
              if (broken) {
                throw new IOException("No space left on device");
              }
              if (method.getName().equals("append")) {
                held.await();
                List<?> bodies = (List<?>) args[0];
                done.add("write " + bodies.size());
              } else {
                done.add(method.getName());
              }
              return null;
            });
  }

  @AfterEach
  void close() {
    held.countDown();
    writer.close();
  }

  private CompletableFuture<Void> write(long index, int bytes) {
    CompletableFuture<Void> written = new CompletableFuture<>();
    writer.write(new EntryBodies.Body(1, index, List.of(ByteBuffer.allocate(bytes))), written);
    return written;
  }

  @Test
  void whatCameMeanwhileIsWrittenTogetherAndAForceCoversWhatCameBefore() {
    CompletableFuture<Void> first = write(1, 10);
    await().until(() -> !first.isDone());
    List<CompletableFuture<Void>> later = new ArrayList<>();
    for (int i = 2; i < 12; i++) {
      later.add(write(i, 10));
    }
    CompletableFuture<Void> forced = writer.force();
    assertThat(forced).isNotDone();
    held.countDown();
    forced.join();
    assertThat(first).isCompleted();
    assertThat(later).allMatch(CompletableFuture::isDone);
    assertThat(done).endsWith("force").contains("force").hasSizeLessThanOrEqualTo(3);
    assertThat(writer.force()).as("nothing new").isCompleted();
    assertThat(done.stream().filter("force"::equals)).hasSize(1);
  }

  @Test
  void oneWriteIsNotWithoutBounds() {
    write(1, 1);
    for (int i = 2; i < 6; i++) {
      write(i, 3 << 20);
    }
    held.countDown();
    writer.force().join();
    // The first alone or with some, then at most two at once.
    assertThat(done).hasSizeGreaterThanOrEqualTo(3);
  }

  @Test
  void afterAFailureNothingIsWrittenAndEverythingFails() {
    broken = true;
    held.countDown();
    CompletableFuture<Void> first = write(1, 10);
    assertThatThrownBy(first::join).hasMessageContaining("No space left on device");
    broken = false;
    assertThatThrownBy(write(2, 10)::join).hasMessageContaining("No space left on device");
    assertThatThrownBy(writer.force()::join).hasMessageContaining("No space left on device");
    assertThat(failures).singleElement().isInstanceOf(IOException.class);
    assertThat(done).isEmpty();
  }

  @Test
  void whatComesAfterTheEndFailsAndWhatCameBeforeIsWritten() {
    CompletableFuture<Void> before = write(1, 10);
    held.countDown();
    writer.close();
    assertThat(before).isCompleted();
    assertThatThrownBy(write(2, 10)::join).hasMessageContaining("closed");
    assertThat(failures).isEmpty();
  }
}
