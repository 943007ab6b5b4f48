package dev.evenkeel.dedup;

import org.jspecify.annotations.Nullable;

/**
 * A key that is held, as others may see it.
 *
 * @param head who works on it
 * @param overdueMillis when the head loses it at the latest, by the clock of the automaton
 * @param tail who waits for it; null: nobody
 */
public record KeyInFlight(DedupKey key, Place head, long overdueMillis, @Nullable Place tail) {
  /**
   * A claim at its place.
   *
   * @param member session or cluster member of the claim
   * @param sinceMillis when it got the place, by the clock of the automaton
   */
  public record Place(String member, long sinceMillis) {
    static Place of(SharedClaim claim) {
      return new Place(claim.worker().member(), claim.sinceMillis);
    }
  }

  static KeyInFlight of(DedupKey key, SharedClaim head, @Nullable SharedClaim tail) {
    long overdueMillis = head.sinceMillis + head.headMillisMax;
    return new KeyInFlight(
        key,
        Place.of(head),
        // Tests, for example, give it all the time there is.
        overdueMillis < head.sinceMillis ? Long.MAX_VALUE : overdueMillis,
        tail == null ? null : Place.of(tail));
  }

  public State state() {
    return tail == null ? State.PROCESS : State.BLOCK;
  }
}
