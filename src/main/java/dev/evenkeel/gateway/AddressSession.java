package dev.evenkeel.gateway;

import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.member.Listeners;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;

/**
 * A member of a group whose messages go to an address of the event bus. It leaves the group when
 * for some time nobody has listened at the address, and no request has come.
 */
final class AddressSession extends MemberSession {
  /** How often it looks for a listener before it expires. */
  private static final int LOOKS = 5;

  private static final long CLOSE_MILLIS_MAX = 20_000;

  private final Consumer consumer;
  private final String address;
  private final long looks;

  /** It expires when there was neither a listener nor a request for so long. */
  AddressSession(
      Vertx vertx,
      Consumer consumer,
      String address,
      ConsumerOptions options,
      String user,
      int expiresMillis,
      Runnable onEnd) {
    super(vertx, options, user, expiresMillis, onEnd);
    this.consumer = consumer;
    this.address = address;
    Context context = vertx.getOrCreateContext();
    consumer.onEnd(why -> context.runOnContext(none -> end(RefusedException.of(why))));
    looks =
        vertx.setPeriodic(
            expiresMillis / LOOKS,
            timer ->
                // If the cluster does not say, there may be a listener.
                Listeners.at(vertx, address)
                    .otherwise(true)
                    .onSuccess(listens -> context.runOnContext(none -> looked(listens))));
    keep();
  }

  private void looked(boolean listens) {
    if (listens) {
      keep();
    }
  }

  String address() {
    return address;
  }

  @Override
  String member() {
    return consumer.member();
  }

  @Override
  void expire() {
    end(
        Refusal.UNKNOWN_SESSION.error(
            "the session has ended after %d ms without a listener at '%s' and without a request",
            expiresMillis(), address));
    consumer.close();
  }

  /**
   * Messages that have been sent may still be answered, as long as the lock time allows. The caller
   * does not wait for that too long.
   */
  @Override
  Future<Void> close() {
    end(Refusal.UNKNOWN_SESSION.error("the session was closed"));
    return consumer.close().timeout(CLOSE_MILLIS_MAX, TimeUnit.MILLISECONDS).otherwiseEmpty();
  }

  @Override
  void afterEnd(RefusedException why) {
    vertx.cancelTimer(looks);
  }
}
