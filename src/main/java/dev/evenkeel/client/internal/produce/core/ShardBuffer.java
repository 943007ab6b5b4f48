package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.util.Backoff;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one shard on their way to the log: an open batch that takes messages, and closed
 * ones in the order of their sequence. Only the first few of those may be on their way at once, so
 * that the log still remembers each of them if it is repeated.
 */
final class ShardBuffer<T> {
  final Shard shard;
  private final CoreSettings settings;
  private final BuilderPool builders;
  private final QuotaPace pace;
  private final Deque<OutBatch<T>> queue = new ArrayDeque<>();
  private @Nullable BatchBuilder open;
  private List<T> openTokens = new ArrayList<>();
  private int openBytes;
  private long openDueMillis;
  private long openedMillis;
  private long nextSequence;
  private int failuresInRow;
  private long retryAtMillis = Long.MIN_VALUE;

  /** The log takes no more for this shard. */
  private boolean sealed;

  ShardBuffer(Shard shard, CoreSettings settings, BuilderPool builders, QuotaPace pace) {
    this.shard = shard;
    this.settings = settings;
    this.builders = builders;
    this.pace = pace;
  }

  boolean isEmpty() {
    return open == null && queue.isEmpty();
  }

  /** Whether the log has said that it takes no more for this shard. */
  boolean isSealed() {
    return sealed;
  }

  /** Whether it is not known of a batch if the log took it. */
  boolean isUnsettled() {
    return queue.stream()
        .anyMatch(batch -> batch.state != OutBatch.State.DONE && batch.sentInEpoch());
  }

  /**
   * The log groups could tell which batches the shard took before this epoch, and did not name
   * these.
   */
  void believeEpoch() {
    for (OutBatch<T> batch : queue) {
      if (!batch.sentInEpoch()) {
        batch.unsure = false;
        batch.cutOff = false;
      }
    }
  }

  /** Whether a try of some batch had no answer. */
  boolean mayHaveTaken() {
    return queue.stream()
        .anyMatch(batch -> batch.state != OutBatch.State.DONE && batch.mayBeTaken());
  }

  /**
   * The shard is sealed, and the log has not taken this batch, so that it has taken none behind it
   * either. Those in front are in the log: their own answers, or those to another try, say where.
   */
  void refusedFrom(OutBatch<T> refused) {
    sealed = true;
    boolean behind = false;
    for (OutBatch<T> batch : queue) {
      behind |= batch == refused;
      if (behind && batch.state != OutBatch.State.DONE) {
        batch.forgetSequence();
        batch.unsure = false;
        batch.cutOff = false;
      }
    }
  }

  boolean isOpen() {
    return open != null;
  }

  /** Whether there is no open batch, or one that may take this message too. */
  boolean fits(Message message, long dueMillis) {
    return open == null || openDueMillis == dueMillis && open.fits(message, settings.batchBytes());
  }

  boolean isFull() {
    return open != null && open.bytes() >= settings.batchBytes();
  }

  void add(Message message, long dueMillis, T token, int chargedBytes, long nowMillis) {
    if (open == null) {
      open = builders.take();
      openDueMillis = dueMillis;
      openBytes = 0;
      openedMillis = nowMillis;
    }
    open.add(message);
    openTokens.add(token);
    openBytes += chargedBytes;
  }

  /** Closes the open batch. */
  void seal() {
    BatchBuilder closed = Objects.requireNonNull(open);
    queue.add(
        new OutBatch<>(
            shard,
            closed.build(0, 0, 0),
            openDueMillis,
            openTokens,
            openBytes,
            openedMillis + settings.deliveryTimeoutMillis()));
    builders.giveBack(closed);
    open = null;
    openTokens = new ArrayList<>();
  }

  /**
   * Takes a closed batch that keeps the place in the epoch that it has. If the shard is sealed, the
   * log has not taken it, as it has not taken those before it: see {@link #refusedFrom}.
   */
  void addStamped(Batch batch, long dueMillis, T token) {
    OutBatch<T> closed =
        new OutBatch<>(shard, batch, dueMillis, List.of(token), batch.length(), Long.MAX_VALUE);
    if (!sealed) {
      closed.firstSequence = batch.firstSequence();
    }
    queue.add(closed);
  }

  /**
   * Divides batches that a quota does not take at once. The pieces have the sequences that their
   * messages had, so it does not matter if the log took the whole batch after all. Batches of a
   * spool stay as they are there.
   */
  void divide(long nowMillis) {
    if (!pace.limits.isLimited(nowMillis) || nowMillis < retryAtMillis) {
      return;
    }
    List<OutBatch<T>> sendable = new ArrayList<>();
    while (!queue.isEmpty() && sendable.size() < settings.batchesInFlight()) {
      OutBatch<T> batch = queue.removeFirst();
      if (batch.state != OutBatch.State.WAITING
          || batch.isStamped()
          || batch.batch.count() == 1
          || batch.batch.count() <= pace.limits.messagesMax(nowMillis)
              && batch.batch.length() <= pace.limits.bytesMax(nowMillis)) {
        sendable.add(batch);
      } else {
        sendable.addAll(pieces(batch, nowMillis));
        // Nothing asks for it any more.
        batch.state = OutBatch.State.DONE;
        batch.endFlushes();
      }
    }
    for (int i = sendable.size() - 1; i >= 0; i--) {
      queue.addFirst(sendable.get(i));
    }
  }

  private List<OutBatch<T>> pieces(OutBatch<T> batch, long nowMillis) {
    List<OutBatch<T>> pieces = new ArrayList<>();
    BatchBuilder builder = builders.take();
    int from = 0;
    for (BatchReader messages = batch.batch.reader(0); messages.hasNext(); ) {
      Message message = messages.next();
      long bytes = (long) builder.bytes() + BatchBuilder.sizeOf(message);
      if (builder.count() > 0
          && (builder.count() >= pace.limits.messagesMax(nowMillis)
              || bytes > pace.limits.bytesMax(nowMillis))) {
        pieces.add(piece(batch, builder, from));
        from += builder.count();
        builder.clear();
      }
      builder.add(message);
    }
    pieces.add(piece(batch, builder, from));
    builders.giveBack(builder);
    return pieces;
  }

  private OutBatch<T> piece(OutBatch<T> batch, BatchBuilder builder, int from) {
    Batch piece =
        batch.sentInEpoch()
            ? builder.build(batch.batch.producerId(), batch.epoch, batch.firstSequence + from)
            : builder.build(0, 0, 0);
    return batch.piece(piece, from);
  }

  Deque<OutBatch<T>> queue() {
    return queue;
  }

  /**
   * Whether the open batch should be closed to be sent: at once if nothing is under way, else when
   * it has lingered. While the window is full it goes on collecting, for it could not be sent.
   */
  boolean sealDue(long nowMillis) {
    return open != null
        && queue.size() < settings.batchesInFlight()
        && (queue.isEmpty() || nowMillis >= openedMillis + settings.lingerMillis());
  }

  /**
   * Marks what may be sent now as sent, in order, and adds it to {@code sends}.
   *
   * @param closing only what was sent before, to learn whether the log took it
   * @param dropped whether the shard is known to be gone
   */
  void send(
      long producerId,
      int epoch,
      long nowMillis,
      boolean closing,
      boolean dropped,
      List<OutBatch<T>> sends) {
    if (nowMillis < retryAtMillis) {
      return;
    }
    boolean earlierUnderWay = false;
    boolean head = true;
    int place = 0;
    for (OutBatch<T> batch : queue) {
      if (place++ == settings.batchesInFlight()) {
        return;
      }
      switch (batch.state) {
        case DONE -> {}
        case SENT -> {
          if (isTooLarge(batch, nowMillis)) {
            return;
          }
          earlierUnderWay = true;
          head = false;
        }
        case WAITING -> {
          if ((closing || sealed) && !batch.sentInEpoch()) {
            return;
          }
          // One that came too early must not overtake again: it waits for the outcome before it,
          // unless those before it are sent again in this very turn.
          if (batch.gapped && earlierUnderWay) {
            return;
          }
          int messages = batch.batch.count();
          if (!pace.limits.admits(shard, messages, batch.batch.length(), nowMillis)) {
            return;
          }
          stamp(batch, producerId, epoch);
          batch.gapped = false;
          batch.sentAsHead = head;
          batch.sentToDropped = dropped;
          head = false;
          batch.state = OutBatch.State.SENT;
          sends.add(batch);
          if (isTooLarge(batch, nowMillis)) {
            // What is behind it would come too early while the quota saves for it.
            return;
          }
        }
      }
    }
  }

  /** Whether a quota has to save for it. */
  private boolean isTooLarge(OutBatch<T> batch, long nowMillis) {
    return pace.limits.isTooLarge(batch.batch.count(), batch.batch.length(), nowMillis);
  }

  private void stamp(OutBatch<T> batch, long producerId, int epoch) {
    if (!batch.sentInEpoch()) {
      batch.firstSequence = nextSequence;
      batch.epoch = epoch;
      nextSequence += batch.batch.count();
      batch.batch.stamped(producerId, epoch, batch.firstSequence);
    }
  }

  /** A try failed: the next one follows after a pause, unless the pause has begun already. */
  void backOff(long nowMillis, double jitter) {
    backOff(nowMillis, jitter, 0);
  }

  /**
   * The same after a refusal that says when to come again.
   *
   * @param pauseMillisMin the pause is at least as long
   */
  void backOff(long nowMillis, double jitter, long pauseMillisMin) {
    if (nowMillis >= retryAtMillis) {
      long pause =
          Backoff.doubling(
              failuresInRow, CoreSettings.BACKOFF_MILLIS_MIN, CoreSettings.BACKOFF_MILLIS_MAX);
      failuresInRow++;
      long jittered = Math.max(1, (long) (pause * (0.5 + jitter / 2)));
      retryAtMillis = nowMillis + Math.max(pauseMillisMin, jittered);
    }
  }

  /** The pause after a failure ends. */
  void retryNow() {
    retryAtMillis = Long.MIN_VALUE;
  }

  void succeeded() {
    failuresInRow = 0;
    retryAtMillis = Long.MIN_VALUE;
    dropDone();
  }

  void dropDone() {
    while (!queue.isEmpty() && queue.peekFirst().state == OutBatch.State.DONE) {
      queue.removeFirst();
    }
  }

  /** A new epoch begins: sequences count from 0 again, for all that is left. */
  void beginEpoch() {
    for (Iterator<OutBatch<T>> each = queue.iterator(); each.hasNext(); ) {
      OutBatch<T> batch = each.next();
      if (batch.state == OutBatch.State.DONE) {
        each.remove();
      } else {
        batch.cutOff |= batch.state == OutBatch.State.SENT;
        batch.forgetSequence();
      }
    }
    nextSequence = 0;
    failuresInRow = 0;
    retryAtMillis = Long.MIN_VALUE;
  }

  /**
   * When something has to be done here even if nothing else happens; always later than now.
   *
   * @param sending whether batches may be sent at all
   */
  long wakeAtMillis(long nowMillis, boolean sending) {
    long wake = Long.MAX_VALUE;
    if (open != null) {
      wake = pace.deadline(openedMillis + settings.deliveryTimeoutMillis());
      if (sending && queue.size() < settings.batchesInFlight()) {
        wake = Math.min(wake, openedMillis + settings.lingerMillis());
      }
    }
    for (OutBatch<T> batch : queue) {
      if (batch.state != OutBatch.State.DONE) {
        wake = Math.min(wake, pace.deadline(batch.deadlineMillis));
        break;
      }
    }
    if (sending && retryAtMillis > nowMillis) {
      wake = Math.min(wake, retryAtMillis);
    }
    return wake;
  }

  boolean openExpired(long nowMillis) {
    return open != null
        && nowMillis >= pace.deadline(openedMillis + settings.deliveryTimeoutMillis());
  }
}
