package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicPattern;
import java.util.List;
import java.util.Set;

/** Checks of a heartbeat that need no state. */
final class HeartbeatRules {
  static final int INSTANCE_CHARS_MAX = 200;
  static final int HOST_CHARS_MAX = 300;
  static final int VERSION_CHARS_MAX = 100;
  static final long MEMBER_TIMEOUT_MILLIS_MIN = 100;
  static final long LOCK_TIME_MILLIS_MAX = 3_600_000;

  static final long STUCK_TIMEOUT_MILLIS_MIN = 1_000;
  static final long STUCK_TIMEOUT_MILLIS_MAX = 24 * 3_600_000L;
  static final long CRASH_LOCK_TIME_MILLIS_MAX = 3_600_000;
  static final long GRACE_MILLIS_MAX = 24 * 3_600_000L;
  static final long STALL_TIMEOUT_MILLIS_MIN = 1_000;
  static final long STALL_TIMEOUT_MILLIS_MAX = 3_600_000;

  private static final long STEPS_MAX = 1L << 53;

  private static final Set<String> ORDERS = Set.of("none", "key", "shard");

  private HeartbeatRules() {}

  /**
   * @throws RefusedException INVALID, with what would be right
   */
  static void check(Heartbeat beat) {
    Names.check("group", beat.group());
    Names.check("member", beat.member());
    text("instance", beat.instance(), INSTANCE_CHARS_MAX);
    if (beat.mode() == null || beat.start() == null) {
      throw invalid("a heartbeat needs a mode and a start");
    }
    beat.policy().check();
    if (beat.clusterMember() != null) {
      text("cluster member", beat.clusterMember(), INSTANCE_CHARS_MAX);
    }
    if (beat.home() != null) {
      text("home", beat.home(), INSTANCE_CHARS_MAX);
    }
    if (beat.host() != null && beat.host().length() > HOST_CHARS_MAX) {
      throw invalid("host of " + beat.host().length() + " characters: at most " + HOST_CHARS_MAX);
    }
    boolean candidate = beat.topics().isEmpty() && beat.policy().isSingleton();
    if (beat.policy().isSteps()) {
      checkTrack(beat);
    } else if (beat.topics().isEmpty() && !candidate) {
      throw invalid("a member subscribes to at least one topic, unless the mode is singleton");
    }
    beat.topics().forEach(TopicPattern::check);
    long patterns = beat.topics().stream().filter(TopicPattern::is).count();
    if (patterns > Heartbeat.PATTERNS_MAX) {
      throw invalid(
          "a subscription with "
              + patterns
              + " patterns: at most "
              + Heartbeat.PATTERNS_MAX
              + ", so use patterns that match more");
    }
    if (beat.version() != null && beat.version().length() > VERSION_CHARS_MAX) {
      throw invalid("a version of more than " + VERSION_CHARS_MAX + " characters");
    }
    between(
        "memberTimeoutMillis",
        beat.memberTimeoutMillis(),
        MEMBER_TIMEOUT_MILLIS_MIN,
        // The lease of a group does not say for how long to wait for its holder.
        candidate ? Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT : Limits.MEMBER_TIMEOUT_MILLIS_MAX);
    between("lockTimeMillis", beat.lockTimeMillis(), 0, LOCK_TIME_MILLIS_MAX);
    checkWishes(beat, beat.wishes());
  }

  private static void checkTrack(Heartbeat beat) {
    if (!beat.topics().isEmpty()) {
      throw invalid("a coordinator has no topics, only the other groups have");
    }
    if (beat.steps() == null) {
      throw invalid("a track says in its heartbeats where it stands");
    }
    between("steps", beat.steps().steps(), -1, STEPS_MAX);
    between("stay", beat.steps().stay(), 0, Integer.MAX_VALUE);
    between("roster", beat.steps().roster(), 0, Long.MAX_VALUE / 2);
    between(
        "memberTimeoutMillis",
        beat.memberTimeoutMillis(),
        Limits.TRACK_TIMEOUT_MILLIS_MIN,
        Limits.TRACK_TIMEOUT_MILLIS_MAX);
  }

  private static void checkWishes(Heartbeat beat, Heartbeat.Wishes wishes) {
    boolean level = beat.policy().isLevel();
    if (wishes.assignor() != null) {
      Names.check("assignor", wishes.assignor());
    }
    if (wishes.stuckTimeoutMillis() != null) {
      between(
          "stuckTimeoutMillis",
          wishes.stuckTimeoutMillis(),
          STUCK_TIMEOUT_MILLIS_MIN,
          STUCK_TIMEOUT_MILLIS_MAX);
    }
    between("crashLockTimeMillis", wishes.crashLockTimeMillis(), 0, CRASH_LOCK_TIME_MILLIS_MAX);
    between("graceMillis", wishes.graceMillis(), 0, GRACE_MILLIS_MAX);
    if (wishes.graceMillis() > 0 && !beat.policy().isSharded()) {
      throw invalid("graceMillis in mode " + beat.mode() + ": only mode sharded has one");
    }
    Long stall = wishes.stallTimeoutMillis();
    if (stall != null && !level) {
      throw invalid("stallTimeoutMillis in mode " + beat.mode() + ": only mode level has one");
    }
    if (stall != null) {
      between("stallTimeoutMillis", stall, STALL_TIMEOUT_MILLIS_MIN, STALL_TIMEOUT_MILLIS_MAX);
    }
    if (wishes.order() != null && !(level && ORDERS.contains(wishes.order()))) {
      throw invalid("order: none, key or shard, in mode level only");
    }
    List<Long> delays = wishes.retryDelaysMillis() == null ? List.of() : wishes.retryDelaysMillis();
    if (wishes.retryDelaysMillis() != null && (!level || delays.size() > Limits.RETRY_DELAYS_MAX)) {
      throw invalid(
          "retryDelaysMillis: at most " + Limits.RETRY_DELAYS_MAX + ", in mode level only");
    }
    delays.forEach(delay -> between("retryDelaysMillis", delay, 0, Limits.RETRY_DELAY_MILLIS_MAX));
    int crashes = wishes.crashesMax();
    if (crashes != Limits.CRASHES_MAX_DEFAULT && !level) {
      throw invalid("crashesMax in mode " + beat.mode() + ": only mode level has one");
    }
    if (crashes != 0) {
      between("crashesMax", crashes, Limits.CRASHES_MAX_LEAST, Limits.CRASHES_MAX_MOST);
    }
    if (wishes.filter() != null) {
      MessageFilter.check(wishes.filter());
    }
    Long term = wishes.resignedTerm();
    if (term != null && (term < 0 || !beat.policy().isSingleton())) {
      throw invalid("resignedTerm " + term + ": a term from 0, in mode singleton only");
    }
    Long over = wishes.handedOverTerm();
    if (over != null && (over < 0 || !beat.topics().isEmpty())) {
      throw invalid("handedOverTerm " + over + ": a term from 0, of an election only");
    }
  }

  private static void text(String what, String text, int charsMax) {
    if (text == null || text.isEmpty() || text.length() > charsMax) {
      throw invalid("a heartbeat needs the " + what + " as 1 to " + charsMax + " characters");
    }
  }

  private static void between(String what, long value, long min, long max) {
    if (value < min || value > max) {
      throw invalid(what + " of " + value + ": it must be " + min + " to " + max);
    }
  }

  private static RefusedException invalid(String detail) {
    return Refusal.INVALID.error(detail);
  }
}
