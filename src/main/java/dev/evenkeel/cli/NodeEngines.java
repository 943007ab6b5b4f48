package dev.evenkeel.cli;

import dev.evenkeel.broker.machine.StoreOpener;
import dev.evenkeel.broker.node.Engines;
import dev.evenkeel.broker.node.LogStarter;
import dev.evenkeel.log.raft.RaftLogNode;
import dev.evenkeel.storage.RocksShared;
import dev.evenkeel.storage.RocksStore;
import java.util.concurrent.CompletableFuture;

/**
 * The engines of a broker: Ratis for the logs, RocksDB for the state. Whoever makes them has locked
 * the directory of the logs, with {@link RaftLogNode#lock}.
 */
public final class NodeEngines implements Engines {
  private final RocksShared shared = new RocksShared();
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

  @Override
  public LogStarter logs() {
    return (settings, states, line) -> {
      RaftLogNode node = RaftLogNode.startLocked(settings, states, line);
      node.failure().thenAccept(failure::complete);
      return node;
    };
  }

  @Override
  public StoreOpener stores() {
    return directory -> RocksStore.open(directory, shared);
  }

  /** Completes with the cause when a log fails. */
  public CompletableFuture<Throwable> logFailure() {
    return failure;
  }

  double blockCacheBytes() {
    return shared.blockCacheBytes();
  }

  double memtableBytes() {
    return shared.writeBufferBytes();
  }

  @Override
  public void close() {
    shared.close();
  }
}
