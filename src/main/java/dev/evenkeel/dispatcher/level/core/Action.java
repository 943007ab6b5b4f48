package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.Collect;
import dev.evenkeel.bus.level.Deal;

/** What a {@link DealBook} wants done. */
public sealed interface Action {
  /** To be answered by {@link DealBook#placed} or {@link DealBook#collectFailed}. */
  record SendCollect(String instance, Collect body) implements Action {}

  /**
   * To be answered by {@link DealBook#received} or {@link DealBook#dealFailed}.
   *
   * @param turn counts how often the member's messages were begun to be sent again
   * @param end number after the last message's
   */
  record SendDeal(String instance, int turn, long end, Deal body) implements Action {}

  /** A message was handled. */
  record Finished(Object ticket) implements Action {}

  /** A handler failed: the message is to be delivered again after a pause. */
  record Failed(Object ticket, String error) implements Action {}

  /** It is not dealt, because its shard goes elsewhere. */
  record GivenBack(Object ticket) implements Action {}
}
