package dev.evenkeel.bus;

import io.vertx.core.Future;

/** Something that is open until it has ended, so that who opened it can forget it then. */
public interface Ending {
  /** Completes when it has ended, whether it was closed or ended by itself. Never fails. */
  Future<Void> over();
}
