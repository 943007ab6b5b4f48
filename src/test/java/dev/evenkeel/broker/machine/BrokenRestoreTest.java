package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.storage.RocksShared;
import dev.evenkeel.storage.RocksStore;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node is killed, or its disk is full, while a snapshot takes the place of its state. */
class BrokenRestoreTest {
  @TempDir Path temp;
  @Closing private final RocksShared shared = new RocksShared();
  private boolean full;

  /** Bodies that were half replaced. */
  private EntryBodies bodies() {
    return (EntryBodies)
        Proxy.newProxyInstance(
            EntryBodies.class.getClassLoader(),
            new Class<?>[] {EntryBodies.class},
            (proxy, method, arguments) -> {
              if (full && method.getName().equals("restore")) {
                throw new IOException("No space left on device");
              }
              return null;
            });
  }

  private DataState open() throws IOException {
    DataState state =
        States.data(
            temp.resolve("live").resolve("d0"),
            directory -> RocksStore.open(directory, shared),
            bodies(),
            1 << 20);
    state.open();
    return state;
  }

  /** Even if it has applied no less than the snapshot has: else nobody would restore it again. */
  @Test
  void theStateIsEmptyUntilBodiesAndStoreAreReplaced() throws Exception {
    DataState state = open();
    byte[] entry = Entry.of(Commands.openShards(1, "t", List.of(0), TopicConfig.DEFAULT), 1_000);
    Entries.apply(state, 1, 7, ByteBuffer.wrap(entry));
    Path snapshot = temp.resolve("snapshot");
    state.snapshot(snapshot);
    full = true;
    assertThatThrownBy(() -> state.restore(snapshot)).hasMessageContaining("No space");
    state.close();
    DataState next = open();
    assertThat(next.appliedIndex()).isEqualTo(-1);
    full = false;
    next.restore(snapshot);
    assertThat(next.appliedIndex()).isEqualTo(7);
    next.close();
    assertThat(Files.list(temp.resolve("live"))).hasSize(1);
  }
}
