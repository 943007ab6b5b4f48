package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.client.Source;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The state of a spool, as its records add up to it. Not thread-safe.
 *
 * <p>Each program that opens the spool begins a run. A run gets its epoch only when all frames of
 * the runs before are in the log: so what is sent again after a crash has the id, epoch and
 * sequences that it had before, and what came later cannot be taken for it.
 */
public final class SpoolState {
  /** The topic and the producer of the spool, which never change. */
  public record Identity(
      String topic, int topicId, long topicCreatedMillis, String producerName, long producerId) {}

  final Identity identity;

  /** The last run that was begun. */
  int run;

  /** The run whose frames are being sent, its epoch, and where its sequences begin. */
  int openRun;

  int epoch;
  Map<Integer, Long> bases = new HashMap<>();

  /** The epoch that was to be opened and may be known to data groups, or null. */
  SpoolRecord.Opening opening;

  /** For each run from the open one on, by shard, the sequence after its last. */
  final TreeMap<Integer, Map<Integer, Long>> ends = new TreeMap<>();

  long lastFrame;
  long ackedFrame;

  /** In all frames since the spool began, and in those up to the one acknowledged. */
  long messages;

  long ackedMessages;

  Source source;
  SourcePosition position;

  /** How many messages there had been when the source was begun. */
  long messagesBeforeSource;

  SpoolState(Identity identity) {
    this.identity = identity;
  }

  /** A new spool, before its first run. */
  public static SpoolState fresh(Identity identity) {
    return new SpoolState(identity);
  }

  public Identity identity() {
    return identity;
  }

  public int run() {
    return run;
  }

  public int openRun() {
    return openRun;
  }

  public int epoch() {
    return epoch;
  }

  /** By shard, the sequence within the open run that is 0 in its epoch; a copy. */
  public Map<Integer, Long> bases() {
    return new HashMap<>(bases);
  }

  /** The epoch that was to be opened when the program before ended, or null. */
  public SpoolRecord.Opening opening() {
    return opening;
  }

  /**
   * For each run from the open one on that has frames, by shard, the sequence after its last; a
   * copy.
   */
  public TreeMap<Integer, Map<Integer, Long>> ends() {
    TreeMap<Integer, Map<Integer, Long>> copy = new TreeMap<>();
    ends.forEach((run, ofRun) -> copy.put(run, new HashMap<>(ofRun)));
    return copy;
  }

  public long lastFrame() {
    return lastFrame;
  }

  public long ackedFrame() {
    return ackedFrame;
  }

  public long messages() {
    return messages;
  }

  public long ackedMessages() {
    return ackedMessages;
  }

  /** Null if nothing is read that could be read again. */
  public Source source() {
    return source;
  }

  /** Null without a source. */
  public SourcePosition position() {
    return position;
  }

  public long messagesBeforeSource() {
    return messagesBeforeSource;
  }

  /**
   * Takes the next record.
   *
   * @throws RefusedException CORRUPT if it does not follow from those before
   */
  public void apply(SpoolRecord record) {
    if (record instanceof SpoolRecord.Run begun) {
      check(begun.number() == run + 1, "run", begun.number(), run);
      run = begun.number();
      if (begun.fresh()) {
        messagesBeforeSource = messages;
        position = SourcePosition.START;
      }
      source = begun.source();
      if (source == null) {
        position = null;
      }
    } else if (record instanceof SpoolRecord.Frame frame) {
      apply(frame);
    } else if (record instanceof SpoolRecord.Acked acked) {
      check(
          acked.frame() >= ackedFrame && acked.frame() <= lastFrame,
          "acknowledgement",
          acked.frame(),
          lastFrame);
      ackedFrame = acked.frame();
      ackedMessages = acked.messages();
    } else if (record instanceof SpoolRecord.Opening next) {
      check(next.run() >= openRun && next.run() <= run, "epoch of run", next.run(), openRun);
      check(next.epoch() > epoch, "epoch", next.epoch(), epoch);
      opening = next;
    } else if (record instanceof SpoolRecord.Opened opened) {
      check(opened.run() >= openRun && opened.run() <= run, "epoch of run", opened.run(), openRun);
      check(openRun == 0 || opened.epoch() > epoch, "epoch", opened.epoch(), epoch);
      openRun = opened.run();
      epoch = opened.epoch();
      bases = new HashMap<>(opened.bases());
      opening = null;
      ends.headMap(openRun).clear();
    } else if (record instanceof SpoolRecord.Snapshot snapshot) {
      check(
          snapshot.state().lastFrame == lastFrame, "state", snapshot.state().lastFrame, lastFrame);
    }
  }

  private void apply(SpoolRecord.Frame frame) {
    check(frame.number() == lastFrame + 1, "frame", frame.number(), lastFrame);
    check(frame.run() == run, "frame of run", frame.run(), run);
    Map<Integer, Long> next = ends.computeIfAbsent(run, none -> new HashMap<>());
    for (SpoolRecord.Item item : frame.items()) {
      long expected = next.getOrDefault(item.shard(), 0L);
      long first = item.batch().firstSequence();
      check(first == expected, "sequence", first, expected);
      next.put(item.shard(), expected + item.batch().count());
    }
    lastFrame = frame.number();
    messages += frame.messages();
    if (frame.position() != null) {
      position = frame.position();
    }
  }

  private static void check(boolean good, String what, long found, long known) {
    if (!good) {
      throw new RefusedException(
          Refusal.CORRUPT, what + " " + found + " does not follow: so far it is " + known);
    }
  }
}
