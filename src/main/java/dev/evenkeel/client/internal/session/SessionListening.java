package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.Link;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.function.Consumer;
import java.util.function.Function;

/** Something that listens at an address of a {@link SessionLink}. */
final class SessionListening implements Link.Listening {
  private final String address;
  private final Function<Buffer, Future<Buffer>> server;
  private final Context context;
  private final Consumer<SessionListening> onEnd;
  private final Promise<Void> registered = Promise.promise();
  private volatile boolean ended;

  /**
   * @param server gives the answer, or null if what comes is not answered
   * @param context on which the server runs
   * @param onEnd called once
   */
  SessionListening(
      String address,
      Function<Buffer, Future<Buffer>> server,
      Context context,
      Consumer<SessionListening> onEnd) {
    this.address = address;
    this.server = server;
    this.context = context;
    this.onEnd = onEnd;
  }

  String address() {
    return address;
  }

  /**
   * Hands over what was pushed.
   *
   * @param correlation ties the answer to the push; 0 if none is wanted
   */
  void deliver(NodeConnection from, int correlation, Buffer body) {
    context.runOnContext(
        none -> {
          Future<Buffer> answered = ended ? null : server.apply(body);
          if (answered != null && correlation != 0) {
            answered.onSuccess(answer -> from.answer(correlation, answer));
          }
        });
  }

  /** A node has answered whether it listens there. */
  void answered(Throwable failure) {
    if (failure == null) {
      registered.tryComplete();
    } else {
      registered.tryFail(failure);
    }
  }

  @Override
  public Future<Void> registered() {
    return registered.future();
  }

  @Override
  public void end() {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
    }
    onEnd.accept(this);
  }
}
