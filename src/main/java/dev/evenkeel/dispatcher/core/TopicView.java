package dev.evenkeel.dispatcher.core;

/** The topics as they were last read, and the reading of them: one request at a time. */
final class TopicView {
  private final Outbox out;
  private Topics topics = Topics.NONE;
  private Long inFlight;
  private boolean again;

  TopicView(Outbox out) {
    this.out = out;
  }

  Topics topics() {
    return topics;
  }

  /** The request that is on its way, or null. */
  Long inFlight() {
    return inFlight;
  }

  /** Reads them, unless that is being done. */
  void read() {
    if (inFlight == null) {
      inFlight = out.nextId();
      out.add(new DispatcherAction.ReadView(inFlight));
    }
  }

  /** Somebody says that they changed: a read that is under way may have come too early. */
  void hinted() {
    again |= inFlight != null;
    read();
  }

  /** Returns whether {@code id} is the request on its way, which is over then. */
  boolean answered(long id) {
    if (inFlight == null || inFlight != id) {
      return false;
    }
    inFlight = null;
    return true;
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
   * @return whether there are other shards than before
   */
  boolean show(Topics next) {
    boolean other = !next.sameShardsAs(topics);
    topics = next;
    return other;
  }
}
