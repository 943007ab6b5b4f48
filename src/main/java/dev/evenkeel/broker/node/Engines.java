package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.StoreOpener;

/**
 * The log and the store of a broker that is deployed by name. {@link java.util.ServiceLoader} finds
 * it; an implementation has a public constructor without arguments.
 */
public interface Engines extends AutoCloseable {
  LogStarter logs();

  StoreOpener stores();

  /** Frees what all stores share; call it after the last store was closed. */
  @Override
  void close();
}
