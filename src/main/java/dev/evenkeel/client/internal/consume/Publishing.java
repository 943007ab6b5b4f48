package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.util.List;
import java.util.function.Consumer;

/** What handlers publish leaves, in order; see ADR 15. */
final class Publishing {
  private final Reports reports;
  private final Consumer<ConsumerAction> out;
  private boolean linkUp = true;

  Publishing(Reports reports, Consumer<ConsumerAction> out) {
    this.reports = reports;
    this.out = out;
  }

  void link(boolean up) {
    linkUp = up;
  }

  /** A handler has ended well. */
  void add(Task task, long now) {
    task.hold.outputs.add(task);
    step(task.hold, now);
  }

  void step(OwnedShard hold, long now) {
    if (hold.outputs != null && linkUp) {
      for (PublishRequest request : hold.outputs.next(hold.window, now)) {
        out.accept(new ConsumerAction.Publish(hold, request));
      }
    }
  }

  /**
   * The log has answered a request. A repeat counts as taken.
   *
   * @return why the shard must be begun anew, or null
   */
  RefusedException answered(
      OwnedShard hold, PublishRequest request, List<Result> results, List<Task> whole, long now) {
    Refusal refusal = null;
    for (Result result : results) {
      if (!result.ok() && (refusal == null || refusal.retriable())) {
        refusal = result.refusal();
      }
    }
    if (refusal == null) {
      whole.addAll(hold.outputs.taken(request));
      return null;
    }
    return failed(hold, request, new RefusedException(refusal, "what handlers publish"), now);
  }

  /**
   * A request had no answer, or was refused as a whole.
   *
   * @return why the shard must be begun anew, or null
   */
  RefusedException failed(
      OwnedShard hold, PublishRequest request, RefusedException refused, long now) {
    if (!refused.refusal().retriable()) {
      return refused;
    }
    long pause = reports.pause(hold, "its outputs cannot be published", refused);
    hold.outputs.again(request, now + pause);
    return null;
  }
}
