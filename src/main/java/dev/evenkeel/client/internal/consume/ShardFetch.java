package dev.evenkeel.client.internal.consume;

import static dev.evenkeel.client.internal.consume.OwnedShardState.RUNNING;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Backoff;

/** Fetches the messages of one owned shard, with at most one request at a time. */
final class ShardFetch {
  /** Shortest time between two fetches that bring nothing and do not wait either. */
  private static final long EMPTY_GAP_MILLIS = 100;

  /** How often the log says that the shard waits at the same unreadable batch. */
  private static final long CORRUPT_REPORT_MILLIS = 60_000;

  /** How long the next fetch waits after one without an answer: it may get none either. */
  private static final int AFTER_LOSS_MILLIS = 1_000;

  private final ShardPort shard;
  private final ShardLog log;
  private final Environment environment;
  private final ShardMessages messages;
  private final ShardRetries retries;

  /** The request whose answer is awaited, or null. */
  private FetchRequest request;

  private long askedMillis;

  /** How long the last request waits if nothing comes. */
  private int waitMillis;

  private long notBeforeMillis;

  /** The answer to the last request was lost. */
  private boolean lost;

  /** The last answer had no messages, or there was none. */
  private boolean quiet = true;

  /** How many messages came with the last answer that had any. */
  private long lastMessages;

  /** The log's next offset according to the last answer, or -1. */
  private long logEnd = -1;

  /** Where the last unreadable batch lies, or -1. */
  private long corruptOffset = -1;

  private int corruptFetches;
  private long corruptReportedMillis;

  /** No message comes after {@link #logEnd} any more. */
  private boolean sealed;

  /** No message of the sealed shard waits to be tried again, as far as the log knows. */
  private boolean noneWaits;

  /** The log has taken another message that waits since the last request was sent. */
  private boolean oneWaits;

  /** What the last answer said of failures. */
  private int failuresSeen;

  /** When the first request was sent, or -1. */
  private long firstMillis = -1;

  /** In a sealed shard only retries can come: the next answer says when there are none left. */
  private static final int SEALED_WAIT_MILLIS = 500;

  ShardFetch(
      ShardPort shard,
      ShardLog log,
      Environment environment,
      ShardMessages messages,
      ShardRetries retries) {
    this.shard = shard;
    this.log = log;
    this.environment = environment;
    this.messages = messages;
    this.retries = retries;
  }

  long logEnd() {
    return logEnd;
  }

  /** Whether everything is fetched that will ever be in the shard, and nothing waits there. */
  boolean isAtSealedEnd() {
    return noneWaits && messages.fetchOffset() >= logEnd;
  }

  long firstMillis() {
    return firstMillis;
  }

  /**
   * The log has taken a message that waits to be tried again. An answer to a former request may not
   * know that. If it says that none waits, that is not known, so that the log says it again when it
   * is true again, however soon.
   */
  void oneWaits() {
    noneWaits = false;
    oneWaits = true;
    failuresSeen &= ~FetchAnswer.NONE_WAITS;
  }

  /** Whether at most half of the last answer is left: the next one should be on its way. */
  boolean isLow() {
    return 2 * messages.pending() <= lastMessages;
  }

  /** Fetches if the limits allow it. */
  void step(long now) {
    if (request != null
        || !environment.fetches()
        || !environment.linkUp()
        || now < notBeforeMillis
        || !environment.flow.mayFetch(isLow())) {
      return;
    }
    askedMillis = now;
    int wait = environment.options.getFetchWaitMillis();
    waitMillis =
        sealed
            ? Math.min(SEALED_WAIT_MILLIS, wait)
            : lost ? Math.min(AFTER_LOSS_MILLIS, wait) : wait;
    FetchRequest next =
        new FetchRequest(
            environment.options.getGroup(),
            shard.shard(),
            shard.epoch(),
            messages.fetchOffset(),
            environment.flow.fetchBytes(
                environment.options.getFetchBytesMax(), environment.shards()),
            environment.flow.fetchMessages(environment.shards()),
            failuresSeen,
            waitMillis,
            environment.options.getFilter());
    request = next;
    oneWaits = false;
    environment.act(new ConsumerAction.Fetch(shard, next, quiet));
    if (firstMillis < 0) {
      firstMillis = now;
      environment.act(new ConsumerAction.HeartbeatSoon());
    }
  }

  /** A fetch was answered. */
  void fetched(FetchRequest answered, FetchAnswer answer, long now) {
    if (ended(answered) && shard.state() == RUNNING && !shard.isPaused()) {
      if (accept(answer, now)) {
        shard.ready();
      }
      shard.step(now);
    }
  }

  /** A fetch failed. */
  void fetchFailed(FetchRequest answered, RefusedException refused, long now) {
    if (ended(answered) && shard.state() == RUNNING && !shard.fenced(refused, now)) {
      failed(refused, now);
      shard.step(now);
    }
  }

  /** An answer came. Returns whether it belongs to the request under way. */
  private boolean ended(FetchRequest answered) {
    if (request != answered) {
      return false;
    }
    request = null;
    return true;
  }

  /** The answer of a fetch under way is no longer wanted. */
  void cancel() {
    request = null;
  }

  /** The connection is back: the answer of a former request is no longer awaited. */
  void linkUp(long now) {
    request = null;
    notBeforeMillis = now;
  }

  /** Takes the batches of an answer. Returns whether there are new messages. */
  private boolean accept(FetchAnswer answer, long now) {
    lost = false;
    if (answer.isCutShort()) {
      logEnd = Math.max(logEnd, answer.endOffset());
      retries.notHinted(environment.options.getFetchWaitMillis(), now);
      return false;
    }
    quiet = answer.batches().isEmpty();
    if (quiet && now - askedMillis < EMPTY_GAP_MILLIS) {
      notBeforeMillis = now + EMPTY_GAP_MILLIS;
    }
    logEnd = answer.endOffset();
    failuresSeen = answer.failures() & (oneWaits ? ~FetchAnswer.NONE_WAITS : ~0);
    sealed = answer.sealed();
    noneWaits = answer.noneWaits() && !oneWaits;
    retries.hinted(answer.failureCount(), quiet && now - askedMillis < waitMillis, now);
    long taken = 0;
    boolean all = true;
    for (FetchAnswer.Placed placed : answer.batches()) {
      long from = messages.fetchOffset();
      if (placed.endOffset() <= from) {
        continue;
      }
      long wanted = placed.endOffset() - Math.max(placed.baseOffset(), from);
      if (taken > 0 && !environment.flow.takes(wanted, placed.batch().unpackedLength())) {
        // It is fetched again once there is room for it.
        all = false;
        break;
      }
      try {
        placed.verified().requireLibrary();
      } catch (RefusedException e) {
        unreadable(placed, e, now);
        all = false;
        break;
      }
      if (placed.baseOffset() > from && answer.next() >= 0) {
        environment.filtered(placed.baseOffset() - from);
      } else if (placed.baseOffset() > from) {
        skipped(from, placed.baseOffset());
      }
      messages.add(placed);
      log.forgetReported();
      taken += wanted;
    }
    if (all && answer.next() > messages.fetchOffset()) {
      environment.filtered(answer.next() - messages.fetchOffset());
      messages.skipTo(answer.next());
    }
    lastMessages = taken > 0 ? taken : lastMessages;
    return taken > 0;
  }

  /**
   * A batch with a wrong checksum is never handed out, nor one that this program lacks the library
   * for: the shard waits, logs that, and fetches it again.
   */
  private void unreadable(FetchAnswer.Placed placed, RefusedException e, long now) {
    boolean another = corruptOffset != placed.baseOffset();
    if (another || now - corruptReportedMillis >= CORRUPT_REPORT_MILLIS) {
      corruptFetches = another ? 0 : corruptFetches;
      corruptOffset = placed.baseOffset();
      corruptReportedMillis = now;
      String which = placed.baseOffset() + " to " + (placed.endOffset() - 1);
      // A missing library is no reason to skip anything.
      String skip = e.refusal() == Refusal.CORRUPT ? log.howToSkip(placed.endOffset()) : "";
      String text =
          ": the batch of offsets %s cannot be read: it is fetched again until it can be%s";
      log.error(String.format(text, which, skip), e);
    }
    notBeforeMillis = now + Backoff.steps(++corruptFetches);
  }

  /** The log refused a fetch, although we own the shard. */
  private void failed(RefusedException refused, long now) {
    lost = refused.refusal() == Refusal.INDETERMINATE;
    long start = refused instanceof RefusedException.OutOfRange range ? range.start() : -1;
    if (start > messages.fetchOffset()) {
      skipped(messages.fetchOffset(), start);
      messages.skipTo(start);
    } else {
      notBeforeMillis = now + log.pause("it cannot be fetched", refused);
    }
  }

  private void skipped(long from, long to) {
    String what = (to - from) + " messages were not consumed, offsets " + from + " to " + (to - 1);
    String why = ": retention has dropped them, or they are lost (see the logs of the nodes)";
    log.error(": " + what + why + "; it goes on at " + to, null);
  }
}
