package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.client.Router;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a producer does next, given what happened and the time. It has no clock, no I/O and
 * no threads.
 *
 * <pre>
 * RUNNING --a sent batch was given up, or the log lost the sequence--> OPENING (nothing is sent)
 * OPENING --epochOpened()-------------------------------------------> RUNNING
 * any     --another producer of the same name, or end()-------------> ENDED
 * </pre>
 *
 * <p>A batch keeps its bytes and its sequence for all its tries in one epoch, so a try may be
 * repeated whatever became of the one before. A batch that was sent and is given up leaves a hole
 * in the sequence: then the producer opens a new epoch, in which all that is left counts anew.
 *
 * @param <T> what stands for one message towards whoever sent it
 */
public final class ProducerCore<T> {
  public enum State {
    RUNNING,
    OPENING,
    ENDED
  }

  private final CoreSettings settings;
  private final ShardChoice choice;
  private final DoubleSupplier jitter;
  private final BuilderPool builders;
  private final QuotaPace pace;
  private final List<ShardBuffer<T>> buffers = new ArrayList<>();

  /** Those with something in them. */
  private final Set<ShardBuffer<T>> active = new LinkedHashSet<>();

  /** What was on its way to a topic that is no more, and why it fails if it has not arrived. */
  private final Map<OutBatch<T>, RefusedException> departed = new LinkedHashMap<>();

  private List<BatchResult<T>> outcomes = new ArrayList<>();
  private State state = State.RUNNING;
  private @Nullable RefusedException endedBy;
  private int topicId = -1;

  /** The shards that {@link #buffers} are of. */
  private TopicInfo.@Nullable Layout layout;

  /** The shards that the topic has now, as long as messages may be left for former ones. */
  private TopicInfo.@Nullable Layout next;

  /** The topic as it was seen last; null before it was. */
  private @Nullable TopicInfo known;

  private boolean topicGone;

  /**
   * The view has to explain why a log group does not know a shard, or does not tell what it took.
   */
  private boolean looks;

  private long producerId;
  private int epoch;
  private long wakeAtMillis = Long.MAX_VALUE;

  /**
   * @param router null: murmur2 of the key, or round robin by batch for messages without one
   * @param jitter gives numbers from 0 to 1
   */
  public ProducerCore(
      CoreSettings settings,
      @Nullable Router router,
      long producerId,
      int epoch,
      DoubleSupplier jitter) {
    this.settings = settings;
    builders = new BuilderPool(settings.compression());
    pace = new QuotaPace(settings);
    choice = new ShardChoice(router);
    this.producerId = producerId;
    this.epoch = epoch;
    this.jitter = jitter;
  }

  public State state() {
    return state;
  }

  public int epoch() {
    return epoch;
  }

  public long producerId() {
    return producerId;
  }

  /** Id of the topic, or -1 while it is unknown. */
  public int topicId() {
    return topicId;
  }

  /** Whether the topic is known to be there. */
  public boolean hasTopic() {
    return !topicGone && !buffers.isEmpty();
  }

  /**
   * The topic as the cluster's view shows it. Another topic of the same name takes the place of one
   * that was deleted. If the topic has other shards than before, what the former ones have not
   * taken goes to these.
   */
  public void topic(TopicInfo seen) {
    if (state == State.ENDED) {
      return;
    }
    TopicInfo.Layout shards = seen.open();
    if (seen.id() != topicId) {
      failAll(
          new RefusedException(
              Refusal.UNKNOWN_TOPIC, "the topic was deleted, and there is another of its name"));
      topicId = seen.id();
      use(shards);
    } else {
      if (topicGone) {
        // The topic exists after all. Batches that were given up have left holes.
        state = State.OPENING;
      }
      if (shards.first() > layout().first()) {
        next = shards;
      }
    }
    known = seen;
    topicGone = false;
  }

  /**
   * Whether it waits for a view of the cluster that is newer than what log groups have answered.
   * {@link #looked} or {@link #topicDeleted} ends it.
   */
  public boolean looksForTopic() {
    return looks;
  }

  /** What {@link #topic} was given last is newer than all answers before {@link #looksForTopic}. */
  public void looked() {
    looks = false;
    if (!isForgotten()) {
      active.forEach(ShardBuffer::believeEpoch);
    }
  }

  /** There is no topic of that name any more. */
  public void topicDeleted() {
    looks = false;
    if (state != State.ENDED && !topicGone) {
      topicGone = true;
      failAll(new RefusedException(Refusal.UNKNOWN_TOPIC, "the topic was deleted"));
    }
  }

  /** Whether the shards that {@link #buffers} are of have been dropped. */
  private boolean isDropped() {
    return known != null && layout != null && !known.has(layout.first());
  }

  /** Whether they have been dropped, and nobody can tell what they had taken. */
  private boolean isForgotten() {
    return known != null && isDropped() && !known.remembers(layout().first());
  }

  /** The shards that {@link #buffers} are of, once a topic is known. */
  private TopicInfo.Layout layout() {
    return Objects.requireNonNull(layout);
  }

  private void use(TopicInfo.Layout shards) {
    layout = shards;
    next = null;
    buffers.clear();
    shards
        .numbers()
        .mapToObj(
            number -> new ShardBuffer<T>(new Shard(topicId, number), settings, builders, pace))
        .forEach(buffers::add);
    choice.restart(shards.shards(), jitter.getAsDouble());
  }

  /** Whether it waits to learn which shards the topic has now. */
  public boolean awaitsShards() {
    return next == null && active.stream().anyMatch(ShardBuffer::isSealed);
  }

  /**
   * Sends what is left to the shards that the topic has now, as soon as it is known of every batch
   * whether a former shard took it. Until then new messages queue up behind those batches: a key
   * keeps its order.
   */
  private void changeShards(long nowMillis) {
    List<ShardBuffer<T>> former = List.copyOf(active);
    if (looks || state != State.RUNNING || former.stream().anyMatch(ShardBuffer::isUnsettled)) {
      return;
    }
    for (ShardBuffer<T> buffer : former) {
      if (buffer.isOpen()) {
        buffer.seal();
      }
    }
    boolean forgotten = isForgotten();
    active.clear();
    use(Objects.requireNonNull(next));
    List<Flush> flushes = new ArrayList<>();
    for (ShardBuffer<T> buffer : former) {
      for (OutBatch<T> batch : buffer.queue()) {
        if (batch.state == OutBatch.State.DONE) {
          continue;
        }
        if (forgotten && batch.mayBeTaken()) {
          finish(batch, 0, droppedAfterIt(batch));
        } else if (batch.isStamped()) {
          finish(batch, 0, new RefusedException(Refusal.SEALED, Refusal.SEALED.usualWords()));
        } else {
          flushes.addAll(batch.flushes());
          addAgain(batch, nowMillis);
        }
      }
    }
    for (ShardBuffer<T> buffer : active) {
      if (buffer.isOpen() && !flushes.isEmpty()) {
        seal(buffer);
      }
      buffer.queue().forEach(batch -> flushes.forEach(batch::awaitedBy));
    }
    flushes.forEach(Flush::arrived);
  }

  private void addAgain(OutBatch<T> batch, long nowMillis) {
    BatchReader messages = batch.batch.reader(0);
    int charged = batch.chargedBytes;
    for (T token : batch.tokens) {
      Message message = messages.next();
      try {
        add(message, batch.dueMillis, token, charged, nowMillis);
      } catch (RefusedException noShard) {
        // The router does not know what to do with that number of shards.
        OutBatch<T> alone = batch.ofOne(token, charged);
        finish(alone, 0, noShard);
      }
      // The whole charge goes with the first message.
      charged = 0;
    }
  }

  /**
   * Takes a message that is within its limits. Only while {@link #hasTopic()} and not ENDED.
   *
   * @param dueMillis of {@link DueTime#of}; the messages of a batch are due at one time
   * @return whether {@link #poll} has something new to do
   */
  public boolean add(Message message, long dueMillis, T token, int chargedBytes, long nowMillis) {
    ShardBuffer<T> buffer = buffers.get(choice.of(message, buffers.size()));
    boolean news = !buffer.isOpen();
    if (!buffer.fits(message, dueMillis)) {
      seal(buffer);
      news = true;
    }
    if (buffer.isEmpty()) {
      active.add(buffer);
    }
    buffer.add(message, dueMillis, token, chargedBytes, nowMillis);
    if (buffer.isFull()) {
      seal(buffer);
      news = true;
    }
    return news;
  }

  /**
   * Takes a batch that has its place in the epoch already, behind those of its shard. It is never
   * given up for its age. If the topic gets other shards and its own does not take it, it is
   * refused as SEALED. Only while {@link #hasShard} and not ENDED.
   *
   * @param dueMillis of {@link DueTime#of} when the messages were taken
   * @param token stands for the whole batch
   */
  public void addStamped(int shard, Batch batch, long dueMillis, T token) {
    ShardBuffer<T> buffer = buffers.get(shard - layout().first());
    if (buffer.isEmpty()) {
      active.add(buffer);
    }
    buffer.addStamped(batch, dueMillis, token);
  }

  /**
   * Whether it sends to this shard now. The next layout takes over when the former one has
   * answered.
   */
  public boolean hasShard(int shard) {
    return layout != null && layout.has(shard);
  }

  /** Nothing is on its way or waits. */
  public boolean isIdle() {
    return active.isEmpty() && departed.isEmpty();
  }

  /** The next epoch is wanted: nothing is sent before {@link #epochOpened}. */
  public void reopen() {
    if (state == State.RUNNING) {
      state = State.OPENING;
    }
  }

  private void seal(ShardBuffer<T> buffer) {
    buffer.seal();
    choice.closed(buffer.shard.shard() - layout().first(), buffers.size());
  }

  /** Closes all open batches, and has {@code flush} wait for all that is on its way. */
  public void flush(Flush flush) {
    for (ShardBuffer<T> buffer : active) {
      if (buffer.isOpen()) {
        seal(buffer);
      }
      for (OutBatch<T> batch : buffer.queue()) {
        if (batch.state != OutBatch.State.DONE) {
          batch.awaitedBy(flush);
        }
      }
    }
    departed.keySet().forEach(batch -> batch.awaitedBy(flush));
    flush.begin();
  }

  /**
   * What is to be sent now, in order for each shard. To be called after anything that happened, and
   * at {@link #wakeAtMillis()}.
   */
  public List<OutBatch<T>> poll(long nowMillis) {
    List<OutBatch<T>> sends = new ArrayList<>();
    // Before anything is sent: one given up stops the sending to all shards.
    for (ShardBuffer<T> buffer : active) {
      expire(buffer, nowMillis);
    }
    if (next != null) {
      changeShards(nowMillis);
    }
    wakeAtMillis = Long.MAX_VALUE;
    for (Iterator<ShardBuffer<T>> each = active.iterator(); each.hasNext(); ) {
      ShardBuffer<T> buffer = each.next();
      if (state == State.RUNNING) {
        if (buffer.sealDue(nowMillis)) {
          seal(buffer);
        }
        buffer.divide(nowMillis);
        buffer.send(producerId, epoch, nowMillis, next != null, isDropped(), sends);
      }
      buffer.dropDone();
      if (buffer.isEmpty()) {
        each.remove();
      } else {
        wakeAtMillis =
            Math.min(wakeAtMillis, buffer.wakeAtMillis(nowMillis, state == State.RUNNING));
      }
    }
    return sends;
  }

  /** When to poll next even if nothing happens. */
  public long wakeAtMillis() {
    return wakeAtMillis;
  }

  private void expire(ShardBuffer<T> buffer, long nowMillis) {
    if (buffer.openExpired(nowMillis)) {
      seal(buffer);
    }
    for (Iterator<OutBatch<T>> each = buffer.queue().iterator(); each.hasNext(); ) {
      OutBatch<T> batch = each.next();
      if (batch.state == OutBatch.State.DONE) {
        continue;
      }
      if (nowMillis < pace.deadline(batch.deadlineMillis)) {
        break;
      }
      finish(batch, 0, tooLate(batch));
      each.remove();
      if (batch.sentInEpoch()) {
        state = State.OPENING;
      }
    }
  }

  /** There is a leader now: ends the pauses after failures. */
  public void retryNow() {
    active.forEach(ShardBuffer::retryNow);
  }

  /**
   * The outcome of one try.
   *
   * @param triedInEpoch the epoch in which it was sent
   */
  public void answered(
      OutBatch<T> batch, int triedInEpoch, Result result, @Nullable String detail, long nowMillis) {
    RefusedException gone = triedInEpoch == batch.epoch ? departed.remove(batch) : null;
    if (gone != null) {
      batch.unsure |= result.refusal() == Refusal.INDETERMINATE;
      // If the network duplicated it, the shard may have taken the first copy before it went, or
      // may take another one behind what is missing now.
      batch.cutOff |=
          result.refusal() == Refusal.UNKNOWN_SHARD || result.refusal() == Refusal.SEQUENCE_GAP;
      batch.state = OutBatch.State.WAITING;
      finish(batch, result.value(), result.ok() ? null : failure(batch, gone));
      return;
    }
    ShardBuffer<T> buffer = bufferOf(batch);
    if (buffer == null || batch.state == OutBatch.State.DONE || triedInEpoch != epoch) {
      return;
    }
    Refusal refusal = result.refusal();
    if (refusal == null) {
      finish(batch, result.value(), null);
      buffer.succeeded();
      pace.passed(nowMillis);
      pace.limits.over(batch.shard);
      return;
    }
    if (batch.state != OutBatch.State.SENT) {
      return;
    }
    switch (refusal) {
      case SEQUENCE_GAP, UNKNOWN_PRODUCER -> gap(buffer, batch, nowMillis);
      case SEALED -> buffer.refusedFrom(batch);
      case PRODUCER_FENCED -> {
        // While a new epoch is opened, it may be ourselves who fenced the former one.
        if (state == State.RUNNING) {
          end(fenced());
        }
      }
      case UNKNOWN_TOPIC, UNKNOWN_SHARD -> notThere(buffer, batch, refusal, nowMillis);
      default -> {
        boolean giveUp = false;
        long pauseMillisMin = 0;
        if (refusal == Refusal.INDETERMINATE) {
          batch.unsure = true;
        } else {
          batch.refused = RefusedException.received(refusal, detail);
          if (batch.refused instanceof RefusedException.QuotaReached quota) {
            pauseMillisMin = pace.refused(quota, nowMillis);
          } else {
            pace.limits.over(batch.shard);
          }
          giveUp = refusal == Refusal.DISK_FULL && diskTooLongFull(batch, nowMillis);
        }
        if (!giveUp && (refusal.retriable() || refusal == Refusal.CORRUPT)) {
          batch.state = OutBatch.State.WAITING;
          buffer.backOff(nowMillis, jitter.getAsDouble(), pauseMillisMin);
        } else {
          RefusedException why = refused(batch, refusal, detail);
          // A node may refuse a repeat before it looks into its log.
          finish(batch, 0, batch.mayBeTaken() ? unsure(batch, why) : why);
          buffer.dropDone();
          state = State.OPENING;
        }
      }
    }
  }

  /**
   * The log group does not know the shard, so it has not taken the batch now. The view of the
   * cluster says why:
   *
   * <pre>
   * the topic is gone                        looks again: see topicDeleted()
   * the shard is there                       this answer, or the view, is late: looks again
   * dropped, and the log group can tell      has not taken it before, either
   * dropped, and it cannot                   INDETERMINATE if the shard may have taken it before
   * </pre>
   */
  private void notThere(ShardBuffer<T> buffer, OutBatch<T> batch, Refusal refusal, long nowMillis) {
    boolean forgotten = isForgotten();
    boolean told = refusal == Refusal.UNKNOWN_SHARD && !forgotten;
    if (!isDropped() || !batch.sentToDropped || !told && !forgotten) {
      looks = true;
      // If the network duplicated it, the shard may have taken the first copy before it went.
      batch.cutOff |= refusal == Refusal.UNKNOWN_SHARD;
      batch.refused = new RefusedException(refusal, refusal.usualWords());
      batch.state = OutBatch.State.WAITING;
      buffer.backOff(nowMillis, jitter.getAsDouble());
    } else if (told || !batch.mayBeTaken()) {
      buffer.refusedFrom(batch);
    } else {
      finish(batch, 0, droppedAfterIt(batch));
      buffer.dropDone();
    }
  }

  private static RefusedException droppedAfterIt(OutBatch<?> batch) {
    return new RefusedException(
        Refusal.INDETERMINATE,
        "shard "
            + batch.shard.shard()
            + " was dropped after the topic got other shards, and nobody knows whether it had taken"
            + " the message");
  }

  public static RefusedException fenced() {
    return new RefusedException(
        Refusal.PRODUCER_FENCED, "another producer has taken this one's name");
  }

  /**
   * An earlier one is missing. If that was still under way when this one was sent, it is sent again
   * after it; else the log has forgotten what it had acknowledged of the sequence.
   */
  private void gap(ShardBuffer<T> buffer, OutBatch<T> batch, long nowMillis) {
    batch.state = OutBatch.State.WAITING;
    if (batch.sentAsHead) {
      batch.cutOff = true;
      state = State.OPENING;
      return;
    }
    batch.gapped = true;
    // If the network duplicated it, the copy may still be taken.
    batch.unsure = true;
    buffer.dropDone();
    if (buffer.queue().peekFirst() == batch) {
      buffer.backOff(nowMillis, jitter.getAsDouble());
    }
  }

  /**
   * A new epoch is recorded in every data group.
   *
   * @param lastSequences by shard, the last sequence that the log took of the former epoch: what it
   *     covers is in the log
   */
  public void epochOpened(long newProducerId, int newEpoch, Map<Shard, Long> lastSequences) {
    if (state != State.OPENING) {
      return;
    }
    for (ShardBuffer<T> buffer : active) {
      long last = lastSequences.getOrDefault(buffer.shard, -1L);
      for (OutBatch<T> batch : buffer.queue()) {
        if (batch.state != OutBatch.State.DONE
            && batch.sentInEpoch()
            && batch.firstSequence + batch.batch.count() - 1 <= last) {
          finish(batch, Result.OFFSET_FORGOTTEN, null);
        }
      }
    }
    buffers.forEach(ShardBuffer::beginEpoch);
    // What the log groups did not say of a shard counts only if the shard was there.
    looks |= active.stream().anyMatch(ShardBuffer::mayHaveTaken);
    producerId = newProducerId;
    epoch = newEpoch;
    state = State.RUNNING;
  }

  /**
   * The producer is being closed: what is not acknowledged within the delivery timeout from now on
   * fails, whatever quotas say.
   */
  public void close(long nowMillis) {
    pace.close(nowMillis);
  }

  /** Whether it was closed, and takes nothing any more that waited for room until now. */
  public boolean isOver(long nowMillis) {
    return pace.isOver(nowMillis);
  }

  /** Why a message that waited for room until {@link #isOver} fails. */
  public RefusedException tooLate() {
    return new RefusedException(Refusal.UNAVAILABLE, lateText() + "; it was never sent");
  }

  private String lateText() {
    return "not acknowledged within "
        + settings.deliveryTimeoutMillis()
        + " ms"
        + (pace.isClosing() ? " after the producer was closed" : "");
  }

  /** Fails all that is left, for good. */
  public void end(RefusedException reason) {
    if (state != State.ENDED) {
      state = State.ENDED;
      looks = false;
      endedBy = reason;
      failAll(reason);
      departed.forEach((batch, gone) -> finish(batch, 0, failure(batch, gone)));
      departed.clear();
    }
  }

  /** Why it ended; null: it has not. */
  public @Nullable RefusedException endedBy() {
    return endedBy;
  }

  /**
   * Fails what is left. If that is because the topic is no more, the answers of what is on its way
   * to it still count: they tell what it had taken.
   */
  private void failAll(RefusedException reason) {
    for (ShardBuffer<T> buffer : active) {
      if (buffer.isOpen()) {
        buffer.seal();
      }
      for (OutBatch<T> batch : buffer.queue()) {
        if (batch.state == OutBatch.State.SENT
            && reason.refusal() == Refusal.UNKNOWN_TOPIC
            && !batch.isStamped()) {
          departed.put(batch, reason);
        } else if (batch.state != OutBatch.State.DONE) {
          finish(batch, 0, failure(batch, reason));
        }
      }
      buffer.queue().clear();
    }
    active.clear();
  }

  /** Why a batch failed whose topic or producer is no more: never more than is known. */
  private static RefusedException failure(OutBatch<?> batch, RefusedException reason) {
    boolean answerLost = batch.mayBeTaken() || batch.state == OutBatch.State.SENT;
    // PRODUCER_FENCED says itself that nothing is known of what was sent.
    return answerLost && reason.refusal() != Refusal.PRODUCER_FENCED
        ? unsure(batch, reason)
        : reason;
  }

  /** Why a batch failed that may be in the log. */
  private static RefusedException unsure(OutBatch<?> batch, RefusedException reason) {
    // One that has its place in a spool stays there, and is asked for again.
    return batch.isStamped()
        ? reason
        : new RefusedException(
            Refusal.INDETERMINATE, reason.words() + "; the message may be in the log all the same");
  }

  /** Why a batch whose time is over failed: never more than is known. */
  private RefusedException tooLate(OutBatch<?> batch) {
    String text = lateText();
    if (!batch.sentInEpoch() && !batch.mayBeTaken()) {
      return new RefusedException(Refusal.UNAVAILABLE, text + "; it was never sent");
    }
    RefusedException refused = batch.refused;
    return batch.state == OutBatch.State.WAITING && !batch.mayBeTaken() && refused != null
        ? RefusedException.received(
            refused.refusal(), text + ", at last because: " + refused.text())
        : new RefusedException(Refusal.INDETERMINATE, text + "; it may be in the log all the same");
  }

  /** Why a batch that the log does not take failed. */
  private static RefusedException refused(
      OutBatch<?> batch, Refusal refusal, @Nullable String detail) {
    String text = detail;
    if (text == null && batch.dueMillis != DueTime.NOW) {
      // The log's answer has no words.
      if (refusal == Refusal.TOO_LARGE) {
        text =
            "shard "
                + batch.shard.shard()
                + " has no room for more delayed messages: at most "
                + Limits.DELAYED_MESSAGES_MAX
                + ", or "
                + Limits.DELAYED_BYTES_MAX
                + " bytes of them, may wait";
      } else if (refusal == Refusal.INVALID) {
        text = "the delay is more than 30 days by the broker's clock: use a shorter one";
      }
    }
    return new RefusedException(refusal, text == null ? refusal.usualWords() : text);
  }

  /** Whether a batch that is surely not in the log has met a full disk for too long. */
  private boolean diskTooLongFull(OutBatch<?> batch, long nowMillis) {
    if (batch.diskFullSinceMillis < 0) {
      batch.diskFullSinceMillis = nowMillis;
    }
    return !batch.unsure
        && nowMillis - batch.diskFullSinceMillis >= settings.diskFullTimeoutMillis();
  }

  private void finish(OutBatch<T> batch, long baseOffset, @Nullable RefusedException refused) {
    batch.state = OutBatch.State.DONE;
    outcomes.add(new BatchResult<>(batch, batch.shard.shard(), baseOffset, refused, null));
  }

  /** Most messages that quotas let it send in one request; a single message always passes. */
  public long requestMessagesMax(long nowMillis) {
    return pace.limits.messagesMax(nowMillis);
  }

  /** The same in bytes. */
  public long requestBytesMax(long nowMillis) {
    return pace.limits.bytesMax(nowMillis);
  }

  /** The results since the last call. */
  public List<BatchResult<T>> takeOutcomes() {
    if (outcomes.isEmpty()) {
      return List.of();
    }
    List<BatchResult<T>> taken = outcomes;
    outcomes = new ArrayList<>();
    return taken;
  }

  /** Null if the batch is of a topic or a shard that has gone. */
  private @Nullable ShardBuffer<T> bufferOf(OutBatch<T> batch) {
    return batch.shard.topicId() == topicId && layout().has(batch.shard.shard())
        ? buffers.get(batch.shard.shard() - layout().first())
        : null;
  }
}
