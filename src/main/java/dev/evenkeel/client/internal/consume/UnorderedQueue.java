package dev.evenkeel.client.internal.consume;

import java.util.function.Consumer;

/** No order at all. */
final class UnorderedQueue implements OrderQueue {
  @Override
  public Task next(Source source) {
    return source.next();
  }

  @Override
  public void finished(Task task) {
    // Nothing waits for it.
  }

  @Override
  public void dropFrom(long from) {
    // It takes no message that it does not give out.
  }

  @Override
  public void forEachParked(Consumer<Task> look) {
    // It takes no message that it does not give out.
  }
}
