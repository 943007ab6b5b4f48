package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Gets commands about shards into the data groups, wherever those are led. The commands may be
 * repeated, so every failure that may pass is tried again until a deadline.
 */
final class GroupCommands {
  private static final long PAUSE_MILLIS = 100;
  private static final long REQUEST_MILLIS_MAX = 3_000;

  private final List<LogGroupServer> groups;
  private final Vertx vertx;
  private final Context context;
  private final LongSupplier nowMillis;

  GroupCommands(List<LogGroupServer> groups, Vertx vertx, Context context, LongSupplier nowMillis) {
    this.groups = groups;
    this.vertx = vertx;
    this.context = context;
    this.nowMillis = nowMillis;
  }

  /** Appends to the log; fails as {@link LogGroup#append} does. */
  Future<Buffer> append(LogGroup log, byte[] entry) {
    return Future.fromCompletionStage(log.append(List.of(ByteBuffer.wrap(entry))), context)
        .map(Frames::answer);
  }

  /**
   * The reply of the data group; fails with the last refusal after {@code withinMillis}.
   *
   * @param withinMillis on a monotonic clock
   */
  Future<Reply> submit(int group, DataCommand command, long withinMillis) {
    Promise<Reply> promise = Promise.promise();
    attempt(group, command, System.nanoTime() + withinMillis * 1_000_000, promise);
    return promise.future();
  }

  private void attempt(int group, DataCommand command, long deadlineNanos, Promise<Reply> promise) {
    once(group, command)
        .map(answer -> ReplyCodec.decode(Frames.answerBody(answer)))
        .onComplete(
            promise::complete,
            failure -> {
              boolean passing =
                  !(Answers.unwrap(failure) instanceof RefusedException refused)
                      || refused.refusal().retriable();
              if (passing && System.nanoTime() - deadlineNanos < 0) {
                vertx.setTimer(PAUSE_MILLIS, id -> attempt(group, command, deadlineNanos, promise));
              } else {
                promise.fail(Answers.unwrap(failure));
              }
            });
  }

  private Future<Buffer> once(int group, DataCommand command) {
    LogGroupServer target = groups.get(group);
    String leader = target.log().leadership().leader();
    if (leader == null) {
      return Future.failedFuture(
          new RefusedException(
              Refusal.UNAVAILABLE, "nobody leads log group " + target.log().name()));
    }
    if (leader.equals(target.nodeId())) {
      return append(target.log(), Entry.of(command, nowMillis.getAsLong()));
    }
    Bytes body = new Bytes().i32(group);
    CommandCodec.write(body, command);
    DeliveryOptions options = new DeliveryOptions().setSendTimeout(REQUEST_MILLIS_MAX);
    return vertx
        .eventBus()
        .<Buffer>request(Addresses.control(leader), Frames.request(Op.MANAGE_SHARDS, body), options)
        .map(message -> message.body());
  }
}
