package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.WakeTimer;
import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.bus.level.StartPermission;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.MayBeAway;
import dev.evenkeel.client.internal.level.LevelWork;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects a member in mode level with its level dispatcher: serves the requests of the level
 * dispatcher and sends the reports of {@link LevelWork}. All of it happens on the consumer's
 * context.
 */
final class LevelMember implements Feature {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);
  private static final long REPORT_TIMEOUT_MILLIS = 1_000;

  private final MemberRun run;
  private final MemberPort consumer;
  private final LevelWork work;
  private final WakeTimer wake;
  private Link.Listening serving;
  private boolean ended;

  LevelMember(MemberRun run, MemberPort consumer, RandomGenerator random) {
    this.run = run;
    this.consumer = consumer;
    ConsumerOptions options = run.options();
    work =
        new LevelWork(
            options,
            run.instance(),
            options.getRange(),
            random,
            this::warn,
            consumer::stop,
            () -> run.handler() instanceof MayBeAway handler && handler.isAway());
    wake = new WakeTimer(run.vertx(), () -> consumer.onEvent(now -> {}));
  }

  LevelWork work() {
    return work;
  }

  private void warn(String text, Throwable cause) {
    LOG.warn("{}: {}: {}", run, text, cause.toString());
    LOG.debug("Where", cause);
  }

  /** Begins to listen. */
  @Override
  public Future<Void> begin() {
    serving = run.link().serve(Addresses.level(run.instance()), this::serve);
    return serving.registered();
  }

  private Future<Buffer> serve(Buffer request) {
    Promise<Buffer> answer = Promise.promise();
    consumer.onEvent(now -> answer.complete(answer(request, now)));
    return answer.future();
  }

  private Buffer answer(Buffer request, long now) {
    if (ended) {
      return Frames.refusal(Refusal.UNAVAILABLE, "the consumer has ended");
    }
    try {
      Op op = Frames.op(request);
      ByteBuffer body = Frames.body(request);
      switch (op) {
        case LEVEL_START:
          SessionStart start = decoded(body, SessionStart::decode);
          SessionState state = work.start(start, now);
          run.safely("onLevel", run.handler()::onLevel);
          return Frames.answer(state.encode().view());
        case LEVEL_HAND_OUT:
          HandOut handOut = decoded(body, HandOut::decode);
          return Frames.answer(new Bytes(8).i64(work.receive(handOut, now)).view());
        default:
          return Frames.refusal(Refusal.INVALID, op + " is not for a member");
      }
    } catch (RefusedException e) {
      return Frames.refusal(e);
    }
  }

  /** Decodes a request. Values that a record refuses are as malformed as bytes that end early. */
  private static <T> T decoded(ByteBuffer body, Function<ByteBuffer, T> decode) {
    try {
      return decode.apply(body);
    } catch (IllegalArgumentException | NullPointerException e) {
      throw new RefusedException(Refusal.INVALID, "malformed: " + e.getMessage());
    }
  }

  /** Sends the report that is due, and tells the handler of lost shards. */
  @Override
  public void turned() {
    callLost();
    if (ended) {
      return;
    }
    long now = Clock.millis();
    Report report = work.report(now);
    if (report != null) {
      send(report);
    } else if (work.reportsSoon()) {
      wake.wakeAt(now + LevelWork.REPORT_DELAY_MILLIS, now);
    }
  }

  private void send(Report report) {
    Buffer body = Frames.request(Op.LEVEL_REPORT, report.encode());
    run.link()
        .request(Addresses.levelDispatcher(work.dispatcherNode()), body, REPORT_TIMEOUT_MILLIS)
        .map(answer -> permission(report, answer))
        .onComplete(
            answered ->
                consumer.onEvent(
                    now -> {
                      if (answered.succeeded()) {
                        work.permission(answered.result(), now);
                      } else {
                        Refusal refusal = RefusedException.of(answered.cause()).refusal();
                        work.reportFailed(report.number(), refusal, now);
                      }
                    }));
  }

  private static StartPermission permission(Report report, Buffer answer) {
    StartPermission permission = StartPermission.decode(Frames.answerBody(answer));
    if (permission.number() != report.number()) {
      throw new RefusedException(
          Refusal.INVALID, "report " + report.number() + " answered with " + permission);
    }
    return permission;
  }

  private void callLost() {
    ShardContext shard;
    while ((shard = work.pollLost()) != null) {
      ShardContext lost = shard;
      run.safely("onLost", () -> run.handler().onLost(lost));
    }
  }

  @Override
  public void heartbeatAnswered(long sentMillis) {
    work.heartbeatAnswered(sentMillis);
  }

  @Override
  public void link(boolean up, long now) {
    work.link(up, now);
  }

  @Override
  public void groupPaused(boolean on) {
    work.groupPaused(on);
  }

  @Override
  public void pause(boolean on) {
    work.pause(on);
  }

  /** See {@link LevelWork#die}. */
  List<MessageId> die(Collection<Delivery> inHand) {
    return work.die(inHand);
  }

  @Override
  public void close() {
    for (ShardContext shard : work.close()) {
      run.safely("onDraining", () -> run.handler().onDraining(shard));
    }
    consumer.heartbeatNow();
  }

  @Override
  public boolean drained(long now) {
    return work.drained(now);
  }

  /** The shards of messages that still run are lost. */
  @Override
  public void end(long now) {
    ended = true;
    wake.cancel();
    work.end();
    callLost();
    if (serving != null) {
      serving.end();
    }
  }
}
