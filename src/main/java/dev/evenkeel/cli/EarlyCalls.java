package dev.evenkeel.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.slf4j.Marker;

/**
 * Drops log messages of the Raft engine about calls that came while it was starting; the callers
 * retry. {@code logback.xml} names this class.
 */
public final class EarlyCalls extends TurboFilter {
  private static final String NOT_READY = "ServerNotReadyException";

  @Override
  public FilterReply decide(
      Marker marker, Logger logger, Level level, String format, Object[] params, Throwable cause) {
    for (Throwable each = thrown(params, cause); each != null; each = each.getCause()) {
      if (each.getClass().getSimpleName().equals(NOT_READY)) {
        return FilterReply.DENY;
      }
    }
    return FilterReply.NEUTRAL;
  }

  /** Filters run before Logback has separated the exception from the other arguments. */
  private static Throwable thrown(Object[] params, Throwable cause) {
    return cause == null
            && params != null
            && params.length > 0
            && params[params.length - 1] instanceof Throwable last
        ? last
        : cause;
  }
}
