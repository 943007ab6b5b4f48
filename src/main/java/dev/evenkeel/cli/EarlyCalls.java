package dev.evenkeel.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.slf4j.Marker;

/**
 * Leaves out what the log engine says of calls that came while it was still starting. The callers
 * try again; named in {@code logback.xml}.
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

  /** Filters see what was thrown before it is told from the other arguments. */
  private static Throwable thrown(Object[] params, Throwable cause) {
    return cause == null
            && params != null
            && params.length > 0
            && params[params.length - 1] instanceof Throwable last
        ? last
        : cause;
  }
}
