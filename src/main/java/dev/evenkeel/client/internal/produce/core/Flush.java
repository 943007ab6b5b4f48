package dev.evenkeel.client.internal.produce.core;

/** Waits for the batches that were there when it began. */
public final class Flush {
  private final Runnable onDone;
  private int remaining;
  private boolean begun;

  public Flush(Runnable onDone) {
    this.onDone = onDone;
  }

  void await() {
    remaining++;
  }

  /** All batches to wait for are known now. */
  void begin() {
    begun = true;
    finishIfDone();
  }

  void arrived() {
    remaining--;
    finishIfDone();
  }

  private void finishIfDone() {
    if (begun && remaining == 0) {
      onDone.run();
    }
  }
}
