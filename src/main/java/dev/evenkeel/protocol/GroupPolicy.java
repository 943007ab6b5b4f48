package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What all members of a group must agree on. Whoever is alone in it may change it.
 *
 * @param mode how the group consumes: "sharded", "level", "broadcast" or "singleton" (others come
 *     with their capability)
 * @param range mode level: most messages that one consumer may have finished more than another, 1
 *     to {@link #RANGE_MAX}; 0 in other modes
 * @param strategy mode level: who moves the messages, "pull" (consumers draw them) or "push" (they
 *     are dealt), or "steps" (there are none: the group is a coordinator, and its members are
 *     tracks); null in other modes
 * @param dedup what makes a message the same as another: "off" (nothing), "key" or "payload"
 */
public record GroupPolicy(String mode, int range, @Nullable String strategy, String dedup) {
  public static final String MODE_SHARDED = "sharded";
  public static final String MODE_LEVEL = "level";
  public static final String MODE_SINGLETON = "singleton";
  public static final String MODE_BROADCAST = "broadcast";
  public static final String STRATEGY_PULL = "pull";
  public static final String STRATEGY_PUSH = "push";
  public static final String STRATEGY_STEPS = "steps";
  public static final String DEDUP_OFF = "off";
  public static final String DEDUP_KEY = "key";
  public static final String DEDUP_PAYLOAD = "payload";

  public static final int RANGE_DEFAULT = 100;
  public static final int RANGE_MAX = 1_000_000;

  /** Each shard to one member; no dedup. */
  public static final GroupPolicy SHARDED = new GroupPolicy(MODE_SHARDED, 0, null, DEDUP_OFF);

  /** A mode with what it has by default. */
  public static GroupPolicy of(String mode) {
    return of(mode, null, null, null);
  }

  /** A mode with what is given; what is null is as the mode has it by default. Checks nothing. */
  public static GroupPolicy of(
      String mode, @Nullable Integer range, @Nullable String strategy, @Nullable String dedup) {
    boolean level = MODE_LEVEL.equals(mode);
    return new GroupPolicy(
        mode,
        range != null ? range : level ? RANGE_DEFAULT : 0,
        strategy != null || !level ? strategy : STRATEGY_PULL,
        dedup != null ? dedup : DEDUP_OFF);
  }

  /** That of a coordinator. */
  public static GroupPolicy steps(int range) {
    return of(MODE_LEVEL, range, STRATEGY_STEPS, null);
  }

  public boolean isLevel() {
    return MODE_LEVEL.equals(mode);
  }

  /** Whether the group is a coordinator: it has no topics, and its members count steps. */
  public boolean isSteps() {
    return isLevel() && STRATEGY_STEPS.equals(strategy);
  }

  public boolean isSharded() {
    return MODE_SHARDED.equals(mode);
  }

  public boolean isSingleton() {
    return MODE_SINGLETON.equals(mode);
  }

  /** Whether every member reads everything, and nobody owns a shard. */
  public boolean isBroadcast() {
    return MODE_BROADCAST.equals(mode);
  }

  /**
   * The same, if it makes sense. A mode may have any name: which ones there are is for the
   * dispatcher to say.
   *
   * @throws RefusedException {@link Refusal#INVALID} otherwise, saying what would be right
   */
  public GroupPolicy check() {
    Names.check("mode", mode);
    if (isLevel()) {
      if (range < 1 || range > RANGE_MAX) {
        throw Refusal.INVALID.error(
            "%s %s: it must be 1 to %s", Told.as("range of", "--range", "range"), range, RANGE_MAX);
      }
      if (isSteps() && !DEDUP_OFF.equals(dedup)) {
        throw Refusal.INVALID.error("dedup %s in a coordinator: it has no messages", dedup);
      }
      if (!isSteps() && !STRATEGY_PULL.equals(strategy) && !STRATEGY_PUSH.equals(strategy)) {
        throw unknown("strategy", strategy, "use pull or push");
      }
    } else if (range != 0) {
      throw notIn(mode, Told.text("%s %s", Told.as("a range of", "--range", "range"), range));
    } else if (strategy != null) {
      throw notIn(mode, Told.as("a strategy", "--strategy", "strategy"));
    }
    if (!DEDUP_OFF.equals(dedup) && !DEDUP_KEY.equals(dedup) && !DEDUP_PAYLOAD.equals(dedup)) {
      throw unknown("dedup", dedup, "use off, key or payload");
    }
    return this;
  }

  /**
   * In what {@code other} differs from the group's policy, to follow the group's name: "runs with
   * range 10, not 20: ...", and what to do. Null if in nothing.
   */
  public @Nullable String differenceTo(GroupPolicy other) {
    if (isSteps() && !other.isSteps()) {
      return "is a coordinator, and has no messages: give the consumers another group";
    }
    if (other.isSteps() && !isSteps()) {
      return "has consumers in mode %s: give the coordinator another name, or stop them first"
          .formatted(mode);
    }
    if (!mode.equals(other.mode)) {
      return difference("in mode", "mode", mode, other.mode);
    }
    if (range != other.range) {
      return difference("with range", "range", range, other.range);
    }
    if (!Objects.equals(strategy, other.strategy)) {
      return difference("with strategy", "strategy", strategy, other.strategy);
    }
    return Objects.equals(dedup, other.dedup)
        ? null
        : difference("with dedup", "dedup", dedup, other.dedup);
  }

  private static String difference(
      String how, String option, @Nullable Object its, @Nullable Object other) {
    return "runs %s %s, not %s: give all its members %s %s, or stop the others first"
        .formatted(how, its, other, option, its);
  }

  private static RefusedException notIn(String mode, Told what) {
    Told ofMode = Told.setting("mode");
    return Refusal.INVALID.error("%s in %s %s: only %s level has one", what, ofMode, mode, ofMode);
  }

  private static RefusedException unknown(String what, @Nullable String value, String right) {
    return invalid(
        "unknown " + what + " '" + Names.printable(String.valueOf(value)) + "': " + right);
  }

  private static RefusedException invalid(String detail) {
    return INVALID.error(detail);
  }
}
