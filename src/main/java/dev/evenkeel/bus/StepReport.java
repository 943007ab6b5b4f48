package dev.evenkeel.bus;

import dev.evenkeel.api.RecordJson;

/**
 * Where a track of a coordinator stands, as it tells the dispatcher. Each one says everything.
 *
 * @param stay grows whenever the track comes back after it was set aside. What it says of an
 *     earlier stay, and comes late, counts for nothing
 * @param steps where it stands; -1: it has no place in this stay yet, and waits for one
 * @param waiting it was refused a step
 * @param aside it has stopped, and its stay is over: the others need not wait for it
 * @param roster the last number of the list of tracks that it has heard of; see {@link StepPlace}
 * @param tracks how many are in that list
 */
public record StepReport(
    int stay, long steps, boolean waiting, boolean aside, long roster, int tracks) {
  static final RecordJson<StepReport> JSON =
      new RecordJson<>(StepReport.class).unless("waiting", false).unless("aside", false);

  /** Of a track that waits for its first place. */
  public static final StepReport FIRST = new StepReport(0, -1, false, false, 0, 0);
}
