package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.StoreOpener;

/**
 * What a broker that is deployed by name runs on. Found by {@link java.util.ServiceLoader}; an
 * implementation has a public constructor without arguments.
 */
public interface Engines extends AutoCloseable {
  LogStarter logs();

  StoreOpener stores();

  /** Frees what all stores share, after the last of them was closed. */
  @Override
  void close();
}
