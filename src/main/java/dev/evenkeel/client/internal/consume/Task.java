package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.LogPosition;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/** A message with all its attempts, until its handler has ended. */
public final class Task implements MessageSource.Handed {
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  /** In place of a message that cannot be read. */
  private static final Message UNREADABLE = new Message(null, null, 0, new byte[0]);

  /** The shard of a message. It learns what becomes of the message. */
  interface Owner {
    Ownership ownership();

    /** See {@link Admission#isWanted}. */
    boolean isWanted(Task task);

    /** The message has passed all admission steps and goes to its handler. */
    void begin(Task task);

    /** An admission step finishes the message without its handler. */
    void declined(Task task, long now);

    /** The messages that wait behind it in the queue of its key. */
    Iterator<Task> behind(Task task);

    /** Takes some of them out of the queue. The caller declines each with {@link #declined}. */
    void takeBehind(Task task, Set<Task> some);

    /** See {@link MessageSource#nextWith}. */
    Task nextWith(long now);

    /** See {@link MessageSource#batchEnded}. */
    void batchEnded(List<Task> tasks, Throwable failure, long now);

    /** Whether a sealed shard has what the message at {@code offset} published to it earlier. */
    boolean hasPublished(Shard sealed, long offset);

    /** Gives the message to the next owner, if its shard is being given away. */
    void giveBack(Task task);

    /** Whether a message that has passed all admission steps may still begin. */
    boolean mayBegin(Task task, long now);

    /** The log is to record that a message begins, or that it does not after all. */
    void claim(Outcome.Begun begun, Task task, long now);

    /** The handler has ended well. */
    void finished(Task task, long now);

    /**
     * The handler has failed.
     *
     * @param running handlers of the consumer that have not ended
     */
    void failed(Task task, Throwable cause, int running, long now);
  }

  /** Data that an {@link Admission} step keeps with a message. */
  public interface StepData {}

  /** How far a message is that begins with care; see {@link Claims}. */
  enum Stage {
    WAITS,
    ASKED,
    SENT,
    TAKEN,
    RUNS
  }

  final Owner owner;
  final long offset;
  final Message message;

  /** Its share of the batch that it came in, for the pending limit. */
  final int bytes;

  /** Its place in the log, or null. */
  LogPosition logPosition;

  /** Whether the log gave it out again; it then has no place in the window. */
  final boolean retry;

  /** 1 for the first attempt. */
  int attempt = 1;

  /** Whether it was in a batch that failed, and now goes to the handler of single messages. */
  boolean alone;

  /** While it waits for its next attempt: when that is due, in monotonic milliseconds. */
  long dueMillis;

  /** The queue of its key in the window, or null. */
  BusyKey queue;

  /** The hash of its key in the log; {@link Outcome#NO_KEY}: not computed, or it has no key. */
  long keyHash;

  /** How many owners of its shard died, probably while they handled it. */
  int deaths;

  /** Whether it begins with care; see {@link ShardCare}. */
  boolean careful;

  /** How far its beginning with care is; null: it does not begin so. */
  Stage claim;

  /** Whether it has waited in {@link StuckQueues}. */
  boolean stuck;

  /** What its last attempt publishes and keeps, or null. */
  Effects effects;

  /** Why no handler can get it, or may: its bytes are no message, say. Null: one can. */
  Exception hopeless;

  /** If it cannot be read: the offset behind its batch, or -1 if that is not known. */
  long batchEnd = -1;

  /** Whether an earlier message of its batch could not be read either. */
  boolean notTheFirst;

  /** Whether the rate step must learn which messages come to wait behind this one. */
  public boolean watched;

  /** Data of the dedup step, or null. Only that step writes it. */
  public StepData dedupData;

  /** Data of the rate step, or null. Only that step writes it. */
  public StepData rateData;

  Task(Owner owner, long offset, Message message, int bytes) {
    this(owner, offset, message, bytes, false);
  }

  Task(Owner owner, long offset, Message message, int bytes, boolean retry) {
    this.retry = retry;
    this.owner = owner;
    this.offset = offset;
    this.message = message;
    this.bytes = bytes;
  }

  /** A message of the log's retries that cannot be read. */
  static Task unreadableRetry(Owner owner, long offset, int bytes, RefusedException why) {
    Task task = new Task(owner, offset, UNREADABLE, bytes, true);
    task.hopeless = unreadable(task, "", why);
    return task;
  }

  /**
   * A message that cannot be read.
   *
   * @param base the first offset of its batch
   * @param end the offset behind its batch
   */
  static Task unreadable(
      Owner owner, long offset, int share, long base, long end, RefusedException why) {
    Task task = new Task(owner, offset, UNREADABLE, share);
    String batch = String.format(" in the batch of offsets %d to %d", base, end - 1);
    task.hopeless = unreadable(task, batch, why);
    task.batchEnd = end;
    return task;
  }

  private static RefusedException unreadable(Task task, String batch, RefusedException why) {
    return new RefusedException(
        Refusal.CORRUPT,
        "the message cannot be read (%s/%d offset %d%s: %s), so no handler got it",
        task.topic(),
        task.shard(),
        task.offset,
        batch,
        why.getMessage());
  }

  /** Whether this is its first attempt. A dead letter that is put back has failed before. */
  boolean isFirst() {
    boolean putBack = retry && keyHash == Outcome.NO_KEY;
    return attempt == 1 && !putBack;
  }

  /**
   * The hash by which the log knows a key: 64 bits, FNV-1a with the finisher of MurmurHash3; never
   * {@link Outcome#NO_KEY}. The log stores it, so it must never change.
   */
  static long hash(byte[] key) {
    long hash = FNV_OFFSET;
    for (byte each : key) {
      hash = (hash ^ each & 0xFF) * FNV_PRIME;
    }
    hash ^= hash >>> 33;
    hash *= 0xff51afd7ed558ccdL;
    hash ^= hash >>> 33;
    hash *= 0xc4ceb9fe1a85ec53L;
    hash ^= hash >>> 33;
    return hash == Outcome.NO_KEY ? 1 : hash;
  }

  /**
   * The message will wait, nobody knows how long: it must not keep everything in memory that came
   * with it.
   */
  void detach() {
    message.detach();
  }

  /**
   * Whether a sealed shard has what an earlier attempt published to it. Of a retry that is not
   * known.
   */
  public boolean hasPublished(Shard sealed) {
    return !retry && owner.hasPublished(sealed, offset);
  }

  /** An attempt begins whose handler may publish. What the last attempt wanted is forgotten. */
  public Effects newEffects() {
    effects = new Effects();
    return effects;
  }

  public String topic() {
    return owner.ownership().topic();
  }

  /** The number of its shard. */
  public int shard() {
    return owner.ownership().shard().shard();
  }

  public long offset() {
    return offset;
  }

  public Message message() {
    return message;
  }

  public int attempt() {
    return attempt;
  }

  /** Whether the log knows, or may soon know, that it begins. */
  boolean isClaimed() {
    return claim == Stage.SENT || claim == Stage.TAKEN || claim == Stage.RUNS;
  }

  boolean publishes() {
    return effects != null && effects.publishes();
  }

  @Override
  public boolean goesAlone() {
    return alone || retry || attempt > 1;
  }

  @Override
  public Delivery delivery(String member) {
    Ownership from = owner.ownership();
    return new Delivery(
        from.topic(),
        from.shard().shard(),
        offset,
        message,
        member,
        from.epoch(),
        attempt + deaths,
        logPosition);
  }
}
