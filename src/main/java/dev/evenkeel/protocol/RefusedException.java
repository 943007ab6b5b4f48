package dev.evenkeel.protocol;

import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The error of every failed future and refused call of Evenkeel; {@link #refusal()} is the reason,
 * and {@link Refusal#retriable()} says whether the same request may succeed later.
 *
 * <pre>{@code
 * producer.send(message).onFailure(failure -> {
 *   if (failure instanceof RefusedException refused && refused.refusal() == Refusal.TOO_LARGE) {
 *     ...
 *   }
 * });
 * }</pre>
 *
 * <p>It has no stack trace: it is an answer, not a bug. What a producer knows of a message that
 * failed is in {@link GivenUp} and {@link ReplicasMissing}.
 *
 * <p>On the wire a refusal is its code and a text, the message. What programs read of it is in
 * fields of {@link NotLeader}, {@link OutOfRange} and {@link QuotaReached}; {@link #received} alone
 * reads it from the text.
 */
public class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final Pattern RANGE = Pattern.compile("(\\d{1,18})\\.\\.(\\d{1,18})");

  /** With {@code ms}, the text that programs of all versions read; with {@code s}, its words. */
  private static final Pattern LATER =
      Pattern.compile(
          "try again after (\\d{1,15}) (ms|s)(?:, with at most (?:(\\d{1,18}) messages?)?(?: and )?"
              + "(?:(\\d{1,18}) bytes?)? at once)?$");

  private static final long MILLIS_PER_SECOND = 1_000;

  private final Refusal refusal;

  /** The message for people who use commands; null: they get the words of programs. */
  private final @Nullable String ofCommands;

  private final @Nullable String setting;

  /**
   * @param detail what was wrong, with the value, and what would be right
   */
  public RefusedException(Refusal refusal, @Nullable String detail) {
    this(refusal, detail, null, null);
  }

  /**
   * @param format as {@link String#format} takes it; values may be {@link Told}
   */
  public RefusedException(Refusal refusal, String format, @Nullable Object... values) {
    this(refusal, Told.text(format, values));
  }

  private RefusedException(Refusal refusal, Told told) {
    this(refusal, told.ofPrograms(), told.ofCommands(), told.key());
  }

  private RefusedException(
      Refusal refusal,
      @Nullable String detail,
      @Nullable String ofCommands,
      @Nullable String setting) {
    super(detail, null, false, false);
    this.refusal = refusal;
    this.ofCommands = ofCommands;
    this.setting = setting;
  }

  /** NOT_LEADER. */
  public static final class NotLeader extends RefusedException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String leader;

    /**
     * @param leader id of the node that leads the log group; null if nobody is known to lead it
     */
    public NotLeader(@Nullable String leader) {
      super(Refusal.NOT_LEADER, leader == null ? "" : leader);
      this.leader = leader;
    }

    /** Id of the node that leads the log group, if anybody is known to lead it. */
    public @Nullable String leader() {
      return leader;
    }
  }

  /** OFFSET_OUT_OF_RANGE of a read, with the offsets that the shard has. */
  public static final class OutOfRange extends RefusedException {
    private static final long serialVersionUID = 1L;

    private final long start;
    private final long end;

    /**
     * @param start the first offset that is kept
     * @param end the next offset that will be given
     */
    public OutOfRange(long start, long end) {
      super(Refusal.OFFSET_OUT_OF_RANGE, start + ".." + end);
      this.start = start;
      this.end = end;
    }

    /** The first offset that is kept. */
    public long start() {
      return start;
    }

    /** The next offset that will be given. */
    public long end() {
      return end;
    }
  }

  /** OVERLOADED: a quota is used up. Says when to try again, and perhaps how much to send then. */
  public static final class QuotaReached extends RefusedException {
    private static final long serialVersionUID = 1L;

    /**
     * Programs send again after this time at the latest: nodes remember what was paid for a request
     * for twice this time, and the quota may be raised.
     */
    public static final long PAUSE_MILLIS_MAX = 5_000;

    private final long retryAfterMillis;
    private final long messagesMax;
    private final long bytesMax;

    private QuotaReached(String text, long retryAfterMillis, long messagesMax, long bytesMax) {
      super(Refusal.OVERLOADED, text);
      this.retryAfterMillis = retryAfterMillis;
      this.messagesMax = messagesMax;
      this.bytesMax = bytesMax;
    }

    /**
     * @param what which quota, and what it allows
     * @param messagesMax most messages that the quota takes at once; {@link Long#MAX_VALUE}: any
     * @param bytesMax the same in bytes
     */
    public static QuotaReached of(
        String what, long retryAfterMillis, long messagesMax, long bytesMax) {
      long millis = Math.max(1, retryAfterMillis);
      String text = what + ": try again after " + millis + " ms";
      String messages = messagesMax == Long.MAX_VALUE ? "" : messagesMax + " messages";
      String bytes = bytesMax == Long.MAX_VALUE ? "" : bytesMax + " bytes";
      return new QuotaReached(text + atMost(messages, bytes), millis, messagesMax, bytesMax);
    }

    private static String atMost(String messages, String bytes) {
      String and = messages.isEmpty() || bytes.isEmpty() ? "" : " and ";
      String both = messages + and + bytes;
      return both.isEmpty() ? "" : ", with at most " + both + " at once";
    }

    /** For a person: in seconds, rounded up, if it takes one or longer. */
    private static String words(MatchResult later) {
      long millis = millis(later);
      String time =
          millis < MILLIS_PER_SECOND
              ? millis + " ms"
              : (millis + MILLIS_PER_SECOND - 1) / MILLIS_PER_SECOND + " s";
      return "try again after "
          + time
          + atMost(counted(later.group(3), "message"), counted(later.group(4), "byte"));
    }

    private static String counted(@Nullable String digits, String what) {
      return digits == null ? "" : digits + " " + what + (digits.equals("1") ? "" : "s");
    }

    private static long millis(MatchResult later) {
      long number = Long.parseLong(later.group(1));
      return later.group(2).equals("s") ? number * MILLIS_PER_SECOND : number;
    }

    /** In how many milliseconds to try again, at least 1. */
    public long retryAfterMillis() {
      return retryAfterMillis;
    }

    /** How long to wait before the request is sent again, in milliseconds. */
    public long pauseMillis() {
      return Math.min(retryAfterMillis, PAUSE_MILLIS_MAX);
    }

    /** Most messages of one request; {@link Long#MAX_VALUE}: the request was not too large. */
    public long messagesMax() {
      return messagesMax;
    }

    /** Most bytes of one request; {@link Long#MAX_VALUE}: the request was not too large. */
    public long bytesMax() {
      return bytesMax;
    }
  }

  /**
   * INDETERMINATE: the producer sent a message and gave up waiting for an answer. The producer
   * learns whether the log took it when it has its next epoch, and then calls its {@code
   * epochHandler}.
   */
  public static final class GivenUp extends RefusedException {
    private static final long serialVersionUID = 1L;

    private final int shard;
    private final int epoch;
    private final long sequence;

    public GivenUp(int shard, int epoch, long sequence, String detail) {
      super(Refusal.INDETERMINATE, detail);
      this.shard = shard;
      this.epoch = epoch;
      this.sequence = sequence;
    }

    /** The shard that it was sent to. */
    public int shard() {
      return shard;
    }

    /** The epoch of the producer in which it was sent. */
    public int epoch() {
      return epoch;
    }

    /** Its place among the producer's messages of the shard and epoch, from 0. */
    public long sequence() {
      return sequence;
    }
  }

  /**
   * REPLICAS_MISSING: the message <em>is</em> in the log, committed by a majority and on their
   * disks, but was not known to be on every replica in time. The missing replicas get it when they
   * are back. Sent once more, it would be there twice.
   */
  public static final class ReplicasMissing extends RefusedException {
    private static final long serialVersionUID = 1L;

    private final int shard;
    private final long offset;
    private final @Nullable String delayedId;
    private final transient List<String> nodes;

    /**
     * @param offset -1 if nobody remembers it
     * @param delayedId of a delayed message
     * @param nodes nodes that are not known to have it; empty if none could be asked
     */
    public ReplicasMissing(
        int shard, long offset, @Nullable String delayedId, List<String> nodes, long waitedMillis) {
      super(
          Refusal.REPLICAS_MISSING,
          "it is in the log at shard %d%s, but after %d ms not known to be on %s",
          shard,
          offset < 0 ? "" : " offset " + offset,
          waitedMillis,
          nodes.isEmpty()
              ? "every replica: no leader answered"
              : "the disk of " + String.join(", ", nodes));
      this.shard = shard;
      this.offset = offset;
      this.delayedId = delayedId;
      this.nodes = List.copyOf(nodes);
    }

    /** The shard that it is in. */
    public int shard() {
      return shard;
    }

    /** Its place in the shard, or -1 if nobody remembers it. */
    public long offset() {
      return offset;
    }

    /** The id of a delayed message, with which it can be cancelled; else null. */
    public @Nullable String delayedId() {
      return delayedId;
    }

    /** The nodes that are not known to have it; empty if none could be asked. */
    public List<String> nodes() {
      return nodes == null ? List.of() : nodes;
    }
  }

  /** The refusal that another program has sent as {@link #refusal} and {@link #getMessage}. */
  public static RefusedException received(Refusal refusal, @Nullable String detail) {
    String text = detail == null ? "" : detail;
    if (refusal == Refusal.NOT_LEADER && text.indexOf(' ') < 0) {
      return new NotLeader(text.isEmpty() ? null : text);
    }
    Matcher later = LATER.matcher(refusal == Refusal.OVERLOADED ? text : "");
    if (later.find()) {
      return new QuotaReached(
          text, QuotaReached.millis(later), most(later.group(3)), most(later.group(4)));
    }
    Matcher range = RANGE.matcher(refusal == Refusal.OFFSET_OUT_OF_RANGE ? text : "");
    return range.matches()
        ? new OutOfRange(Long.parseLong(range.group(1)), Long.parseLong(range.group(2)))
        : new RefusedException(refusal, detail);
  }

  private static long most(@Nullable String digits) {
    return digits == null ? Long.MAX_VALUE : Math.max(1, Long.parseLong(digits));
  }

  /**
   * The refusal in a text of the form {@code REFUSAL: what was wrong}; null if the text has another
   * form.
   */
  public static @Nullable RefusedException parse(@Nullable String text) {
    int colon = text == null ? -1 : text.indexOf(": ");
    if (text != null && colon > 0) {
      try {
        return received(Refusal.valueOf(text.substring(0, colon)), text.substring(colon + 2));
      } catch (IllegalArgumentException e) {
        // Some other text with a colon.
        return null;
      }
    }
    return null;
  }

  /** The refusal that {@code failure} is; anything else is an unknown outcome. */
  public static RefusedException of(Throwable failure) {
    return failure instanceof RefusedException refused
        ? refused
        : new RefusedException(Refusal.INDETERMINATE, "failed: " + failure);
  }

  /** Why the request was refused. */
  public Refusal refusal() {
    return refusal;
  }

  /**
   * The key of the option or setting that is wrong, such as {@code parallel}; of several that do
   * not go together, the first that the message names. Null if the refusal is not about one, or if
   * a node has sent it.
   */
  public @Nullable String setting() {
    return setting;
  }

  /**
   * What is wrong and what to do, for a person: never empty. The message alone may be, or be no
   * more than a leader's id.
   */
  public String words() {
    String detail = getMessage();
    if (detail == null || detail.isBlank()) {
      return refusal.usualWords();
    }
    if (refusal == Refusal.OVERLOADED) {
      return LATER
          .matcher(detail)
          .replaceFirst(later -> Matcher.quoteReplacement(QuotaReached.words(later)));
    }
    return refusal == Refusal.NOT_LEADER && detail.indexOf(' ') < 0
        ? "node " + detail + " leads the log group now: try again"
        : detail;
  }

  /** The message, in both forms. */
  public Told told() {
    String said = Objects.requireNonNullElse(getMessage(), "");
    return Told.as(said, ofCommands == null ? said : ofCommands, setting);
  }

  /** The {@link #words} with the options of commands in place of settings. */
  public String wordsOfCommands() {
    return ofCommands == null || ofCommands.equals(getMessage()) ? words() : ofCommands;
  }

  /** The {@link #words} in the form that programs of every version read, for example in ms. */
  public String text() {
    return this instanceof QuotaReached ? Objects.requireNonNull(getMessage()) : words();
  }

  @Override
  public String toString() {
    return refusal + ": " + words();
  }
}
