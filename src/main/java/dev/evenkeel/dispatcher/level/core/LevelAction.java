package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Shard;
import java.util.List;

/** Something that a {@link LevelDispatch} wants done. */
public sealed interface LevelAction {
  /** To be answered by {@link LevelDispatch#started} or {@link LevelDispatch#startFailed}. */
  record SendStart(String instance, SessionStart body) implements LevelAction {}

  /**
   * To be answered by {@link LevelDispatch#received} or {@link LevelDispatch#handOutFailed}.
   *
   * @param turn counts how often the member's messages were begun to be sent again
   * @param end number after the last message's
   */
  record SendHandOut(String instance, int turn, long end, HandOut body) implements LevelAction {}

  /** A message was handled. */
  record Finished(Object ticket) implements LevelAction {}

  /** A handler failed: the message is to be delivered again after a pause. */
  record Failed(Object ticket, String error) implements LevelAction {}

  /** Members died that had the message in hand: it is to become a dead letter. */
  record Deadly(Object ticket, int deaths) implements LevelAction {}

  /** The log is to know of which messages of a shard members died. */
  record RecordDeaths(Shard shard, long epoch, Outcome.Died died) implements LevelAction {}

  /** The message is not handed out, because its shard gets another owner, or is paused. */
  record GivenBack(Object ticket) implements LevelAction {}

  /**
   * A member kept the others waiting for longer than its stall time, so it no longer takes part. It
   * may join anew.
   *
   * @param inHand messages that were in its hands, and are handed out again
   */
  record SetAside(String member, long stallMillis, int inHand) implements LevelAction {}

  /**
   * Handing out begins.
   *
   * @param goOn members whose counts go on from those of the dispatcher before
   * @param anew members that join anew, because they never had a count, did not answer in time, or
   *     have counts that do not fit those of the others
   */
  record Restored(long term, List<String> goOn, List<String> anew) implements LevelAction {}
}
