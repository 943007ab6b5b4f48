package dev.evenkeel.broker.quota;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.protocol.QuotaKind;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** What quotas cost requests, by the kind of the quota. May be used from any thread. */
public final class QuotaMeters {
  private final Map<QuotaKind, Timer> waits = new EnumMap<>(QuotaKind.class);
  private final Map<QuotaKind, LongAdder> refusals;
  private final LongAdder unheard;

  public QuotaMeters(MeterScope scope) {
    for (QuotaKind kind : QuotaKind.values()) {
      if (kind != QuotaKind.GROUP_RATE) {
        waits.put(
            kind,
            scope.timer(
                "evenkeel.quota.wait",
                "How long a quota held up appends, or the fetches of a group",
                "kind",
                kind.word()));
      }
    }
    refusals =
        scope.counters(
            "evenkeel.quota.refusals",
            "Append requests that were refused because of a quota",
            "kind",
            QuotaKind.class);
    unheard =
        scope.counter(
            "evenkeel.quota.unheard",
            "Requests for time of a quota that the coordinator of rates did not answer");
  }

  void waited(QuotaKind kind, long nanos) {
    Objects.requireNonNull(waits.get(kind)).record(nanos, TimeUnit.NANOSECONDS);
  }

  void refused(QuotaKind kind) {
    Objects.requireNonNull(refusals.get(kind)).increment();
  }

  void unheard() {
    unheard.increment();
  }
}
