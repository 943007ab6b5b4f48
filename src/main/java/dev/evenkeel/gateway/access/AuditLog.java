package dev.evenkeel.gateway.access;

import dev.evenkeel.bus.meters.MeterScope;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes who was denied what, and who changed what, as lines of JSON to the logger {@value
 * #LOGGER}. A node puts them into files of their own.
 *
 * <p>It writes every administrative act, and up to {@link #DENIALS_A_SECOND_MAX} denials a second;
 * it counts the others, so that nobody can fill the disk or hide an act among denials. Safe for use
 * from any thread.
 */
public final class AuditLog {
  public static final String LOGGER = "evenkeel.audit";

  static final int DENIALS_A_SECOND_MAX = 20;

  private static final Logger LINES = LoggerFactory.getLogger(LOGGER);

  private final String node;
  private final LongAdder denied;
  private final AtomicLong second = new AtomicLong();
  private final AtomicLong inSecond = new AtomicLong();
  private final AtomicLong unwritten = new AtomicLong();

  AuditLog(String node, MeterScope scope) {
    this.node = node;
    denied = scope.counter("evenkeel.access.denied", "Requests refused for want of a permission");
  }

  /**
   * Something was refused.
   *
   * @param principal null: nobody known
   * @param source address of the other side
   * @param via http, websocket or session
   * @param action what was asked for
   * @param reason why it was refused
   */
  public void denied(String principal, String source, String via, String action, String reason) {
    denied.increment();
    long now = Instant.now().getEpochSecond();
    if (second.getAndSet(now) != now) {
      inSecond.set(0);
    }
    if (inSecond.incrementAndGet() > DENIALS_A_SECOND_MAX) {
      unwritten.incrementAndGet();
      return;
    }
    JsonObject line = line(principal, source, via, action).put("outcome", "denied");
    long more = unwritten.getAndSet(0);
    if (more > 0) {
      line.put("deniedUnwritten", more);
    }
    LINES.info(line.put("reason", reason).encode());
  }

  /**
   * An administrative act has ended.
   *
   * @param failure why it had no effect; null: it was done
   */
  public void acted(String principal, String source, String via, String action, String failure) {
    JsonObject line = line(principal, source, via, action);
    line.put("outcome", failure == null ? "done" : "failed");
    if (failure != null) {
      line.put("reason", failure);
    }
    LINES.info(line.encode());
  }

  private JsonObject line(String principal, String source, String via, String action) {
    return new JsonObject()
        .put("time", Instant.now().toString())
        .put("node", node)
        .put("user", principal)
        .put("source", source)
        .put("via", via)
        .put("action", action);
  }
}
