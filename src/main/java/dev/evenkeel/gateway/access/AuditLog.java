package dev.evenkeel.gateway.access;

import dev.evenkeel.bus.meters.MeterScope;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes who was denied what, and who changed what, as lines of JSON to the logger {@value
 * #LOGGER}. A node puts them into files of their own.
 *
 * <p>It writes every administrative act that was done. Of what was denied or failed, it writes up
 * to {@link #VAIN_A_SECOND_MAX} lines a second for each user, and for all strangers together; it
 * counts the others. So nobody can fill the disk, or hide an act of somebody else. Safe for use
 * from any thread.
 */
public final class AuditLog {
  public static final String LOGGER = "evenkeel.audit";

  static final int VAIN_A_SECOND_MAX = 20;

  /** So many users have lines of their own. */
  static final int USERS_MAX = 10_000;

  /** Longer texts are cut off: names of users are not longer, and reasons hardly. */
  static final int TEXT_CHARS_MAX = 500;

  private static final Logger LINES = LoggerFactory.getLogger(LOGGER);

  /** Lines that no file of this JVM has taken. */
  private static final LongAdder LOST = new LongAdder();

  /** What a user did in vain within the present second. Guarded by itself. */
  private static final class Vain {
    private long second;
    private int written;
    private long unwritten;

    /** How many lines were left out before this one, which may be written; -1: it may not. */
    synchronized long next(long nowSecond) {
      if (second != nowSecond) {
        second = nowSecond;
        written = 0;
      }
      if (written == VAIN_A_SECOND_MAX) {
        unwritten++;
        return -1;
      }
      written++;
      long before = unwritten;
      unwritten = 0;
      return before;
    }
  }

  private final String node;
  private final LongAdder denied;
  private final LongSupplier seconds;

  /** By user; the empty name stands for strangers. Names are those of known users. */
  private final Map<String, Vain> vain = new ConcurrentHashMap<>();

  AuditLog(String node, MeterScope scope) {
    this(node, scope, () -> Instant.now().getEpochSecond());
  }

  AuditLog(String node, MeterScope scope, LongSupplier seconds) {
    this.node = node;
    this.seconds = seconds;
    denied = scope.counter("evenkeel.access.denied", "Requests refused for want of a permission");
    scope.gauge(
        "evenkeel.access.audit.lost",
        "Lines of the audit log that were lost because the disk was too slow",
        LOST::sum);
  }

  /** A line could not be taken, because too many wait for the disk. */
  public static void lost() {
    LOST.increment();
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
    inVain(principal, source, via, action, "denied", reason);
  }

  /**
   * An administrative act has ended.
   *
   * @param failure why it had no effect; null: it was done
   */
  public void acted(String principal, String source, String via, String action, String failure) {
    if (failure == null) {
      LINES.info(line(principal, source, via, action, "done").encode());
    } else {
      inVain(principal, source, via, action, "failed", failure);
    }
  }

  private void inVain(
      String principal, String source, String via, String action, String outcome, String reason) {
    String user = principal == null ? "" : principal;
    // An identity provider may have any number of users: the rest share the lines of strangers.
    String counted = vain.size() < USERS_MAX || vain.containsKey(user) ? user : "";
    long before = vain.computeIfAbsent(counted, any -> new Vain()).next(seconds.getAsLong());
    if (before < 0) {
      return;
    }
    JsonObject line = line(principal, source, via, action, outcome);
    if (before > 0) {
      line.put("deniedUnwritten", before);
    }
    LINES.info(line.put("reason", cut(reason)).encode());
  }

  private static String cut(String text) {
    return text == null || text.length() <= TEXT_CHARS_MAX
        ? text
        : text.substring(0, TEXT_CHARS_MAX) + "…";
  }

  private JsonObject line(
      String principal, String source, String via, String action, String outcome) {
    return new JsonObject()
        .put("time", Instant.now().toString())
        .put("node", node)
        .put("user", principal)
        .put("source", source)
        .put("via", via)
        .put("action", cut(action))
        .put("outcome", outcome);
  }
}
