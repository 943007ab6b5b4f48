package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.internal.consume.HeartbeatPlan;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Backoff;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/** Sends heartbeats to the dispatcher, and passes its answers to the member. */
final class HeartbeatLoop {
  private static final long TIMEOUT_MILLIS_MIN = 1_000;
  private static final long TIMEOUT_MILLIS_MAX = 2_000;

  /** Retries of the last heartbeat, which says that the member is gone. */
  private static final Retry LEAVE =
      new Retry(1, refusal -> true, 2, 250, TIMEOUT_MILLIS_MAX, () -> false);

  /** The member around it. */
  interface Port {
    /** How often the topics have changed since the member began. */
    default long topicsChanges() {
      return 0;
    }

    /**
     * @param leave whether it says that the member is gone
     */
    Heartbeat heartbeat(boolean leave);

    /**
     * The dispatcher has answered a heartbeat.
     *
     * @param sentMillis when the heartbeat was sent, in monotonic milliseconds
     * @param topics how often the topics had changed by then
     */
    void answered(long sentMillis, long topics, Assignment assignment);

    /** A heartbeat was refused for a reason that a retry alone does not change. */
    void refused(RefusedException refused);
  }

  private final Link link;
  private final OwnContext context;
  private final Port member;
  private final LeaderClient leaders;
  private final HeartbeatPlan plan;
  private final long timeoutMillis;
  private final long intervalMillis;
  private final RandomGenerator random;

  /** The last heartbeat that was sent; null before the first one, and after the last one. */
  private volatile Buffer last;

  /**
   * @param context on which everything of the member happens
   */
  HeartbeatLoop(
      Link link,
      ClusterDirectory directory,
      OwnContext context,
      long intervalMillis,
      Port member,
      RandomGenerator random) {
    this.link = link;
    this.context = context;
    this.intervalMillis = intervalMillis;
    this.member = member;
    this.random = random;
    leaders = new LeaderClient(link, directory);
    plan = new HeartbeatPlan(intervalMillis, Clock.millis());
    timeoutMillis = Math.max(TIMEOUT_MILLIS_MIN, Math.min(TIMEOUT_MILLIS_MAX, intervalMillis));
  }

  void hurry() {
    plan.hurry(Clock.millis());
    tick();
  }

  /** Something has changed that can wait for more of its kind. */
  void soon() {
    plan.soon(Clock.millis());
  }

  void tick() {
    long now = Clock.millis();
    if (!plan.due(now)) {
      return;
    }
    plan.sent(now);
    long topics = member.topicsChanges();
    send(false, Retry.NONE)
        .onComplete(
            answered ->
                context.run(
                    () -> {
                      if (answered.succeeded()) {
                        plan.answered(Clock.millis());
                        member.answered(now, topics, answered.result());
                      } else {
                        failed(RefusedException.of(answered.cause()));
                      }
                    }));
  }

  private void failed(RefusedException refused) {
    boolean retriable = refused.refusal().retriable();
    plan.failed(Clock.millis(), retriable ? Backoff.soon(random) : intervalMillis);
    if (!retriable) {
      member.refused(refused);
    }
  }

  /** Says that the member is gone. Completes in any case. */
  Future<Void> leave() {
    return send(true, LEAVE).otherwiseEmpty().mapEmpty();
  }

  private Buffer next(boolean leaving) {
    Buffer heartbeat = member.heartbeat(leaving).toJson().toBuffer();
    last = leaving ? null : heartbeat;
    return heartbeat;
  }

  private Future<ByteBuffer> to(String dispatcher, Buffer heartbeat) {
    return link.request(Addresses.dispatcher(dispatcher), heartbeat, timeoutMillis)
        .map(Frames::answerBody);
  }

  /**
   * Sends the last heartbeat again, unless the member has left. May be called from any thread.
   * Nobody waits for the answer.
   */
  void again() {
    Buffer heartbeat = last;
    if (heartbeat != null) {
      leaders.ask(ClusterView.META, Retry.NONE, (meta, dispatcher) -> to(dispatcher, heartbeat));
    }
  }

  private Future<Assignment> send(boolean leaving, Retry retry) {
    return leaders
        .ask(ClusterView.META, retry, (meta, dispatcher) -> to(dispatcher, next(leaving)))
        .map(body -> Assignment.fromJson(new JsonObject(Frames.copy(body))));
  }
}
