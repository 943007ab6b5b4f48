package dev.evenkeel.gateway;

import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.member.AddressHandler;
import dev.evenkeel.client.internal.member.Listeners;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member of a group whose messages go to an address of the event bus. It leaves the group when
 * for some time nobody has listened at the address, and no request has come.
 */
final class AddressSession extends MemberSession {
  private static final Logger LOG = LoggerFactory.getLogger(AddressSession.class);

  /** How often it looks for a listener before it expires. */
  private static final int LOOKS = 5;

  /** How often it looks whether its user may still have it. */
  private static final long CHECK_MILLIS = 1_000;

  /** How long a session that is closed waits for replies. */
  private static final long REPLY_MILLIS_MAX = 3_000;

  private final Consumer consumer;
  private final AddressHandler handler;
  private final long looks;
  private final long checks;

  /**
   * It expires after this time without a listener and without a request.
   *
   * @param permitted throws RefusedException when the user may not have such a session any more
   */
  AddressSession(
      Vertx vertx,
      Consumer consumer,
      AddressHandler handler,
      ConsumerOptions options,
      String user,
      int expiresMillis,
      Runnable permitted,
      Runnable onEnd) {
    super(vertx, options, user, expiresMillis, onEnd);
    this.consumer = consumer;
    this.handler = handler;
    Context context = vertx.getOrCreateContext();
    consumer.onEnd(why -> context.runOnContext(none -> end(RefusedException.of(why))));
    looks =
        vertx.setPeriodic(
            expiresMillis / LOOKS,
            timer ->
                // If the cluster does not say, there may be a listener.
                Listeners.at(vertx, address())
                    .otherwise(true)
                    .onSuccess(listens -> context.runOnContext(none -> looked(listens))));
    // No request shows who asks, as long as somebody listens.
    checks = user == null ? -1 : vertx.setPeriodic(CHECK_MILLIS, timer -> endUnless(permitted));
  }

  private void endUnless(Runnable permitted) {
    try {
      permitted.run();
    } catch (RefusedException e) {
      LOG.warn("{} leaves group {}: {}", member(), options().getGroup(), e.words());
      leave(e);
    }
  }

  private void looked(boolean listens) {
    if (listens) {
      expiry.keep();
    }
  }

  String address() {
    return handler.address();
  }

  @Override
  String member() {
    return consumer.member();
  }

  private Future<Void> leave(RefusedException why) {
    end(why);
    return handler.close(consumer, REPLY_MILLIS_MAX);
  }

  @Override
  void expire() {
    leave(
        Refusal.UNKNOWN_SESSION.error(
            "the session has ended after %d ms without a listener at '%s' and without a request",
            expiresMillis(), address()));
  }

  /** Messages that have been sent may still be answered for a while. Then they are given back. */
  @Override
  public Future<Void> close() {
    return leave(Refusal.UNKNOWN_SESSION.error("the session was closed"));
  }

  @Override
  void afterEnd(RefusedException why) {
    vertx.cancelTimer(looks);
    vertx.cancelTimer(checks);
  }
}
