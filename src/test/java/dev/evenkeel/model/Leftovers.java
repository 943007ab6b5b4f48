package dev.evenkeel.model;

import dev.evenkeel.functional.LiveObjects;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What is left in the memory of this JVM of producers, consumers and sessions that have ended. */
final class Leftovers {
  /** Each stands for everything that belongs to it. */
  private static final List<String> KINDS =
      List.of(
          "dev.evenkeel.client.internal.member.ConsumerShell",
          "dev.evenkeel.client.internal.member.HandlerStream",
          "dev.evenkeel.client.internal.member.CandidateShell",
          "dev.evenkeel.client.internal.member.ServiceDedup",
          "dev.evenkeel.client.internal.member.TrackMember",
          "dev.evenkeel.client.internal.produce.BatchingProducer",
          "dev.evenkeel.client.internal.spool.SpooledProducer",
          "dev.evenkeel.client.internal.consume.OwnedShard",
          "dev.evenkeel.gateway.PolledConsumer",
          "dev.evenkeel.gateway.AddressSession");

  /** Timers and answers under way hold the last ones for a while. */
  private static final long LEAST = 12;

  /** A timer of the log engine holds a node that has ended for as long as a snapshot may take. */
  private static final Duration PATIENCE = Duration.ofSeconds(75);

  private Leftovers() {}

  /** What does not go within some seconds, in words. */
  static List<String> await() {
    long until = System.nanoTime() + PATIENCE.toNanos();
    List<String> left;
    do {
      Map<String, Long> counts = LiveObjects.now().counts();
      left =
          KINDS.stream()
              .filter(kind -> counts.getOrDefault(kind, 0L) > LEAST)
              .map(kind -> counts.get(kind) + " objects of " + kind + " are left")
              .toList();
    } while (!left.isEmpty() && System.nanoTime() < until && HttpUser.pause());
    return left;
  }
}
