package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.HandlerKind;
import io.vertx.core.Vertx;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one run of a member was started with.
 *
 * @param options with its member's name; the topics are those that its heartbeats name
 * @param handler as it is to be called: perhaps on worker threads
 * @param kind of the handler; without state in mode broadcast
 * @param instance the id of this run
 * @param context on which everything of it happens
 */
record MemberRun(
    Link link,
    ClusterDirectory directory,
    ConsumerOptions options,
    ConsumerHandler handler,
    HandlerKind kind,
    String instance,
    OwnContext context) {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  Vertx vertx() {
    return link.vertx();
  }

  /** Calls user code, and logs what it throws. */
  void safely(String what, Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      LOG.error("{}: {} failed: {}", this, what, e.toString());
      LOG.debug("Where", e);
    }
  }

  @Override
  public String toString() {
    return "consumer " + options.getGroup() + "/" + options.getMember();
  }
}
