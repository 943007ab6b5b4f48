package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.WakeTimer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.RateBy;
import dev.evenkeel.client.internal.admission.DedupKeys;
import dev.evenkeel.client.internal.admission.RateGate;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.Task;

/**
 * The {@link RateGate} of a consumer, and the timer that wakes the consumer when the next message
 * may begin.
 */
final class RateLimits implements Feature {
  private final RateGate gate;
  private final WakeTimer wake;

  RateLimits(ConsumerShell consumer, Admission before) {
    ConsumerOptions options = consumer.options;
    Dedup by = options.getRateBy() == RateBy.PAYLOAD ? Dedup.PAYLOAD : Dedup.KEY;
    gate =
        new RateGate(
            consumer.core,
            before,
            options,
            new DedupKeys(options.getGroup(), by, null),
            RateGate.KEYS_MAX,
            delivery ->
                consumer.actions.safely("onDropped", () -> consumer.handler.onDropped(delivery)));
    wake = new WakeTimer(consumer.link.vertx(), () -> consumer.onEvent(now -> {}));
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

  @Override
  public void turned() {
    long now = Clock.millis();
    wake.wakeAt(gate.dueMillis(now), now);
  }

  @Override
  public void end(long now) {
    wake.cancel();
  }
}
