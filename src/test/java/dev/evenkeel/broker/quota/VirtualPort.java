package dev.evenkeel.broker.quota;

import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/** A node in virtual time. Its coordinator answers after a millisecond, or not at all. */
final class VirtualPort implements QuotaPort {
  static final long MILLI = 1_000_000;
  static final long SECOND = 1_000 * MILLI;

  private record Task(long atNanos, long number, Runnable task) {}

  /** Time, and the coordinator, which several nodes may share. */
  static final class World {
    final PriorityQueue<Task> tasks =
        new PriorityQueue<>(
            (a, b) ->
                a.atNanos() != b.atNanos()
                    ? Long.compare(a.atNanos(), b.atNanos())
                    : Long.compare(a.number(), b.number()));

    final Map<Quota.Key, Quota> quotas = new HashMap<>();
    RateReservations coordinator = new RateReservations(0);
    long now;
    long numbers;

    void after(long nanos, Runnable task) {
      tasks.add(new Task(now + nanos, numbers++, task));
    }

    void set(Quota quota) {
      if (quota.isNone()) {
        quotas.remove(quota.key());
      } else {
        quotas.put(quota.key(), quota);
      }
    }

    void runUntil(long nanos) {
      while (!tasks.isEmpty() && tasks.peek().atNanos() <= nanos) {
        Task next = tasks.poll();
        now = next.atNanos();
        next.task().run();
      }
      now = nanos;
    }
  }

  final World world;
  final List<ReserveRequest> asked = new ArrayList<>();

  VirtualPort(World world) {
    this.world = world;
  }

  @Override
  public Quota quota(QuotaKind kind, String name) {
    return world.quotas.get(new Quota.Key(kind, name));
  }

  @Override
  public Future<Reservation> reserve(ReserveRequest request) {
    asked.add(request);
    Promise<Reservation> answer = Promise.promise();
    if (world.coordinator == null) {
      world.after(500 * MILLI, () -> answer.fail(Refusal.INDETERMINATE.error("no answer")));
      return answer.future();
    }
    Quota quota = world.quotas.get(request.key());
    Reservation given =
        quota == null
            ? Reservation.free(request.key())
            : world.coordinator.reserve(
                world.now,
                quota,
                request.bytes(),
                request.messages(),
                request.waitMillisMax() * MILLI);
    world.after(MILLI, () -> answer.complete(given));
    return answer.future();
  }

  @Override
  public long nanos() {
    return world.now;
  }

  @Override
  public void after(long nanos, Runnable task) {
    world.after(nanos, task);
  }
}
