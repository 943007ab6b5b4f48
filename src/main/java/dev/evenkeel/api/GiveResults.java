package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Says how messages ended. */
@Body("Results")
public record GiveResults(
    @Inline InSession in, @Nullable List<Place> done, @Nullable List<Failed> failed) {
  /** Where a message is, and under which epoch it was given to the session. */
  @Body("DoneMessage")
  public record Place(
      String topic,
      @Bounds(min = 0) int shard,
      @Bounds(min = 0) long offset,
      @Bounds(min = 0) long epoch) {}

  /**
   * A message that was not handled.
   *
   * @param error why, for people; kept with the message
   */
  @Body("FailedMessage")
  public record Failed(@Inline Place place, @Nullable String error) {}

  /**
   * A result without effect.
   *
   * @param reason FENCED: it has a result, or its shard went to another member
   */
  @Body("RefusedResult")
  public record Refused(@Inline Place place, String reason) {}

  /** Results without effect. */
  public record RefusedResults(List<Refused> refused) {}
}
