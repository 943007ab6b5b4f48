package dev.evenkeel.bus;

import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts the details of unexpected errors into the log, and keeps them from callers. */
public final class UnexpectedErrors {
  private static final Logger LOG = LoggerFactory.getLogger(UnexpectedErrors.class);

  private UnexpectedErrors() {}

  /** Logs a failure under a new id; gives the text for the caller, which names only that id. */
  public static String report(Throwable failure) {
    String id = String.format("%08x", ThreadLocalRandom.current().nextInt());
    LOG.error("internal error {}", id, failure);
    return "internal error " + id + ": the log says more under this id";
  }
}
