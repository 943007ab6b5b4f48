package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.bus.WakeTimer;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.RateBy;
import dev.evenkeel.client.internal.admission.DedupKeys;
import dev.evenkeel.client.internal.admission.RateGate;
import dev.evenkeel.client.internal.admission.SharedTokens;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.protocol.RefusedException;

/**
 * The {@link RateGate} of a consumer, and the timer that wakes the consumer when the next message
 * may begin. It asks for this member's part of the rate of its group.
 */
final class RateLimits implements Feature {
  /** A member that gets no answer goes on at its share of the group's rate. */
  private static final long ANSWER_MILLIS_MAX = 500;

  private static final long NANOS_PER_MILLI = 1_000_000;

  private final RateGate gate;
  private final WakeTimer wake;
  private final MemberRun run;
  private final MemberPort consumer;
  private final SharedTokens shared;
  private final LeaderClient leaders;

  RateLimits(MemberRun run, MemberPort consumer, ConsumerCore core, Admission before) {
    this.run = run;
    this.consumer = consumer;
    ConsumerOptions options = run.options();
    shared = new SharedTokens(options.getGroup(), options.getGroupRate());
    leaders = new LeaderClient(run.link(), run.directory());
    Dedup by = options.getRateBy() == RateBy.PAYLOAD ? Dedup.PAYLOAD : Dedup.KEY;
    gate =
        new RateGate(
            core,
            before,
            options,
            shared,
            new DedupKeys(options.getGroup(), by, null),
            RateGate.KEYS_MAX,
            delivery -> run.safely("onDropped", () -> run.handler().onDropped(delivery)));
    wake = new WakeTimer(run.vertx(), () -> consumer.onEvent(now -> {}));
  }

  MessageSource<Task> source() {
    return gate;
  }

  Figures rates() {
    return gate.rates();
  }

  @Override
  public void tick(long now) {
    gate.tick(now);
  }

  /** The dispatcher says whether the group has a rate. */
  void groupLimited(boolean limited) {
    shared.limited(limited);
  }

  @Override
  public void turned() {
    ReserveRequest request = shared.ask(nanos());
    if (request != null) {
      ask(request);
    }
    long now = Clock.millis();
    wake.wakeAt(gate.dueMillis(now), now);
  }

  private static long nanos() {
    return Clock.millis() * NANOS_PER_MILLI;
  }

  private void ask(ReserveRequest request) {
    leaders
        .request(
            ClusterView.META,
            Addresses::control,
            Calls.RESERVE.request(request),
            ANSWER_MILLIS_MAX,
            Retry.hops(1))
        .map(Calls.RESERVE::answered)
        .onComplete(
            answer ->
                consumer.onEvent(
                    now -> {
                      if (answer.succeeded()) {
                        shared.answered(nanos(), answer.result());
                      } else {
                        failed(RefusedException.of(answer.cause()));
                      }
                    }));
  }

  private void failed(RefusedException refused) {
    if (!shared.failed(nanos(), refused.refusal()) && run.options().getGroupRate() != null) {
      consumer.endBecause(refused);
    }
  }

  @Override
  public void end(long now) {
    wake.cancel();
  }
}
