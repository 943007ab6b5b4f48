package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.client.Consumer;
import io.vertx.core.Context;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the event loop of a consumer from another one. If a handler blocks it, the watch says so
 * once, and sends the member's last heartbeat again, so that the member does not drop out of its
 * group.
 */
final class BlockedLoopWatch {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  private final MemberRun run;
  private final Runnable again;
  private final String handler;
  private final Context context;
  private final BlockedLoop loop;
  private volatile long workedMillis = Clock.millis();
  private volatile Thread thread;
  private boolean ended;
  private long timer = -1;

  /**
   * @param again sends the last heartbeat again; called on any thread
   * @param handler class of the handler, for people
   */
  BlockedLoopWatch(MemberRun run, Runnable again, Class<?> handler) {
    this.run = run;
    this.again = again;
    this.handler = handler.getName();
    context = EventLoops.forConnections(run.vertx());
    loop = new BlockedLoop(run.options().getHeartbeatMillis(), Clock.millis());
  }

  void start() {
    context.runOnContext(none -> begin());
  }

  private synchronized void begin() {
    if (!ended) {
      timer = run.vertx().setPeriodic(BlockedLoop.LOOK_MILLIS, id -> look());
    }
  }

  /** The event loop of the consumer is at work. */
  void works(long now) {
    workedMillis = now;
    if (thread == null) {
      thread = Thread.currentThread();
    }
  }

  /** A timer that is left when Vert.x closes would keep the consumer in memory for good. */
  synchronized void end() {
    ended = true;
    run.vertx().cancelTimer(timer);
  }

  private void look() {
    BlockedLoop.Verdict verdict = loop.look(Clock.millis(), workedMillis);
    if (verdict.heartbeat()) {
      again.run();
    }
    if (verdict.warn()) {
      LOG.warn(
          "{}: its handler {} has blocked the event loop for {} ms{}. Let it run on threads of its"
              + " own: set the consumer's option worker, or use a BlockingHandler. Meanwhile the"
              + " member begins no other message, and stays in its group for {} min",
          run,
          handler,
          verdict.blockedMillis(),
          place(),
          BlockedLoop.KEPT_MILLIS_MAX / 60_000);
    }
  }

  /** Where in the application's code the event loop is, or an empty text. */
  private String place() {
    Thread blocked = thread;
    return blocked == null
        ? ""
        : Arrays.stream(blocked.getStackTrace())
            .filter(frame -> !ofPlatform(frame.getClassName()))
            .findFirst()
            .map(frame -> ", at " + frame)
            .orElse("");
  }

  private static boolean ofPlatform(String name) {
    return name.startsWith("java.")
        || name.startsWith("javax.")
        || name.startsWith("jdk.")
        || name.startsWith("sun.")
        || name.startsWith("io.netty.")
        || name.startsWith("io.vertx.")
        || name.startsWith("dev.evenkeel.client.");
  }
}
