package dev.evenkeel.consumer.core;

/** No order at all. */
final class FreeLanes implements Lanes {
  @Override
  public Task next(Source source) {
    return source.next();
  }

  @Override
  public void finished(Task task) {
    // Nothing waits for it.
  }

  @Override
  public void clear() {
    // It takes no message that it does not give out.
  }
}
