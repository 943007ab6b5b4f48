package dev.evenkeel.storage;

import java.io.IOException;

/**
 * What a store has on disk is damaged: a checksum does not match, a file is missing, or the disk
 * cannot read it. Trying again does not help, and what else is damaged is not known.
 */
public final class DamagedStoreException extends IOException {
  private static final long serialVersionUID = 1L;

  public DamagedStoreException(String message, Throwable cause) {
    super(message, cause);
  }
}
