package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Names;

/**
 * Decides which messages of an owned shard begin with care because its owners died before. They are
 * handed out one by one: each is committed before the next one, and {@link Claims} tells the log
 * which one begins. So the next death shows which message is the reason. A message during which too
 * many owners died is not begun any more. See {@link Crashes}.
 */
final class ShardCare {
  private final Environment environment;

  /** Null: no owner died. */
  private final Crashes crashes;

  /** Whether the handler takes care itself; see {@link CountsDeaths}. */
  private final boolean leftToHandler;

  /** Messages below were consumed by former owners, and build up the state again. */
  private long repeatedTo;

  /** What the log knows to be consumed. */
  private long committed;

  ShardCare(Environment environment, Crashes crashes) {
    this.environment = environment;
    this.crashes = environment.atMostOnce ? null : crashes;
    leftToHandler = environment.options.getMember().startsWith(Names.DISPATCHER_HOLDER);
  }

  /** Null: no owner died. */
  Crashes crashes() {
    return crashes;
  }

  /**
   * It is known where to begin.
   *
   * @param consumedTo what the group had committed
   */
  void begin(long consumedTo) {
    repeatedTo = consumedTo;
    committed = consumedTo;
  }

  /** The log has taken a commit. */
  void committed(long offset) {
    committed = Math.max(committed, offset);
  }

  /**
   * Whether messages are handed out one by one. That ends when the log knows of enough progress: as
   * long as it does not, it counts a death only for a message that it knows to have begun.
   */
  boolean applies() {
    return crashes != null && !leftToHandler && crashes.careful() && committed < crashes.until();
  }

  /**
   * Marks a message that is about to be handed out with the deaths during which it was, and with
   * whether it begins with care.
   */
  void mark(Task task) {
    if (crashes == null || leftToHandler) {
      return;
    }
    task.claim = null;
    int max = environment.options.getCrashesMax();
    if (crashes.offset() == task.offset) {
      task.deaths = crashes.count();
      if (max > 0 && crashes.careful() && crashes.count() >= max && task.hopeless == null) {
        task.hopeless = new DeadlyMessageException(crashes.count());
      }
    }
    boolean repeats = !task.retry && task.offset < repeatedTo;
    task.careful = applies() && !repeats && task.hopeless == null;
    task.alone |= task.careful;
  }
}
