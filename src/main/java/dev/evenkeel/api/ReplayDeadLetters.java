package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gives dead letters to the group again, with no attempt counted.
 *
 * @param group name of the group
 * @param deadLetters topic/shard/offset each
 * @param all all of the group, in place of names
 * @param dryRun true: only counts them
 */
@Body("DeadLetterNames")
public record ReplayDeadLetters(
    String group,
    @Format(DeadLetterView.NAME) @Nullable List<String> deadLetters,
    boolean all,
    boolean dryRun) {

  /**
   * How many dead letters there were.
   *
   * @param dryRun true after a dry run, otherwise absent
   */
  public record DeadLetterCount(String group, long count, @LeftOut boolean dryRun) {}
}
