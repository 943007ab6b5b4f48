package dev.evenkeel.dedup;

/**
 * Counts of what a coordinator has done, and what it holds now.
 *
 * @param accepted requests accepted at once
 * @param blocked requests that had to wait
 * @param declined requests that were declined: the work that was saved
 * @param evicted claims that lost their places: heads that took too long, claims of dead members,
 *     and claims that had to make room
 * @param lost working claims without a place when they gave it back, for example because the map
 *     was lost: the same work may have run twice at once
 * @param overflowed keys dropped because of the limit; their claims are among the evicted
 * @param unguarded requests that went ahead because the cluster did not answer
 * @param processing claims that work now
 * @param waiting claims that wait now
 * @param keys keys with claims now
 */
public record DedupFigures(
    long accepted,
    long blocked,
    long declined,
    long evicted,
    long lost,
    long overflowed,
    long unguarded,
    long processing,
    long waiting,
    long keys) {
  public static final DedupFigures NONE = new DedupFigures(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  public DedupFigures plus(DedupFigures other) {
    return new DedupFigures(
        accepted + other.accepted,
        blocked + other.blocked,
        declined + other.declined,
        evicted + other.evicted,
        lost + other.lost,
        overflowed + other.overflowed,
        unguarded + other.unguarded,
        processing + other.processing,
        waiting + other.waiting,
        keys + other.keys);
  }
}
