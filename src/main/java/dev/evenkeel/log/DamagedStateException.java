package dev.evenkeel.log;

import java.io.IOException;

/**
 * The files of a state or of a snapshot are damaged, so that the node needs another copy of the log
 * group. Trying again does not help.
 */
public final class DamagedStateException extends IOException {
  private static final long serialVersionUID = 1L;

  public DamagedStateException(String message, Throwable cause) {
    super(message, cause);
  }
}
