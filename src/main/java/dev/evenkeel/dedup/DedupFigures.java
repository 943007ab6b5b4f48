package dev.evenkeel.dedup;

/**
 * What a coordinator has done since it was made, and what it holds now.
 *
 * @param accepted requests that were accepted at once
 * @param blocked requests that had to wait
 * @param declined requests that were turned away: the work saved
 * @param evicted claims that lost their place: heads past the timeout, those of the dead, and those
 *     that had to make room
 * @param lost claims at work whose place was gone when they gave it back, also because the map was
 *     lost: of the same, another may have run at the same time
 * @param overflowed keys that were dropped because there were more than the limit; their claims are
 *     among the evicted
 * @param unguarded requests that went ahead because the cluster did not answer
 * @param processing claims at work now
 * @param waiting claims that wait now
 * @param keys keys that are held now
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
