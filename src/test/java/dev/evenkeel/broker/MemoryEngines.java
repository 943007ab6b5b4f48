package dev.evenkeel.broker;

import dev.evenkeel.broker.machine.StoreOpener;
import dev.evenkeel.broker.node.Engines;
import dev.evenkeel.broker.node.LogStarter;
import dev.evenkeel.storage.MemoryStore;

/** A lone node in memory, for deployment by name. */
public final class MemoryEngines implements Engines {
  private final MemoryStore.Disk disk = new MemoryStore.Disk();

  @Override
  public LogStarter logs() {
    return (settings, states, line) ->
        new FakeCluster(1, settings.nodeId()).start(settings, states);
  }

  @Override
  public StoreOpener stores() {
    return disk::open;
  }

  @Override
  public void close() {}
}
