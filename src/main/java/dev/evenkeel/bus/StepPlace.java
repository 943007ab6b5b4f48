package dev.evenkeel.bus;

import dev.evenkeel.api.RecordJson;

/**
 * Where a track of a coordinator may go, as the dispatcher says.
 *
 * @param stay of the track for which this holds
 * @param from where this stay begins; -1: it has no place yet
 * @param limit the last step that it may take; -1: no news, what it was allowed before still holds
 * @param roster the number of the list of tracks that have a place or get one next. It grows with
 *     each change of the list; 0: the dispatcher does not know all of them yet
 * @param tracks how many are in that list
 * @param awaited others wait for this track
 */
public record StepPlace(int stay, long from, long limit, long roster, int tracks, boolean awaited) {
  static final RecordJson<StepPlace> JSON =
      new RecordJson<>(StepPlace.class).unless("awaited", false);
}
