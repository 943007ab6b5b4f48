package dev.evenkeel.client.internal.consume;

import java.util.function.Consumer;

/** One message of the shard after another. */
final class ShardQueue implements OrderQueue {
  private boolean busy;

  @Override
  public Task next(Source source) {
    if (busy) {
      return null;
    }
    Task task = source.next();
    busy = task != null;
    return task;
  }

  @Override
  public void finished(Task task) {
    busy = false;
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
