package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.TopicInfo;
import java.util.List;

/** The topics as last read. It reads them with one request at a time. */
final class TopicReads {
  /** Takes the answer to a read. */
  interface Reader {
    /**
     * @param id of the read
     * @param topics null if they cannot be read now
     */
    void read(long id, List<TopicInfo> topics, long nowMillis);
  }

  private final PendingActions out;
  private Reader reader;
  private final Topics topics = new Topics(List.of());
  private Long inFlight;
  private boolean again;
  private long begun;
  private long shown;

  TopicReads(PendingActions out) {
    this.out = out;
  }

  /** From now on, answers go there. */
  void reader(Reader to) {
    reader = to;
  }

  Topics topics() {
    return topics;
  }

  /** The request that is on its way, or null. */
  Long inFlight() {
    return inFlight;
  }

  /** How many reads have begun. */
  long begun() {
    return begun;
  }

  /** Whether a read was answered that began after so many. */
  boolean isNewerThan(long reads) {
    return shown > reads;
  }

  /** Reads them, unless that is being done. */
  void read() {
    if (inFlight == null) {
      begun++;
      inFlight = out.ask(DispatcherAction.ReadView::new, this::answered).id();
    }
  }

  /** Somebody says that they changed: a read that is under way may have come too early. */
  void hinted() {
    again |= inFlight != null;
    read();
  }

  private void answered(List<TopicInfo> read, long nowMillis) {
    long id = inFlight;
    inFlight = null;
    if (read != null) {
      shown = begun;
    }
    reader.read(id, read, nowMillis);
  }

  /** After an answer: reads once more if there was a hint meanwhile or somebody waits for it. */
  void readAgain(boolean awaited) {
    if ((again || awaited) && inFlight == null) {
      again = false;
      read();
    }
  }

  /**
   * Takes in what was read.
   *
   * @return the topics that have other shards than before
   */
  Topics.Change show(List<TopicInfo> next) {
    return topics.show(next);
  }
}
