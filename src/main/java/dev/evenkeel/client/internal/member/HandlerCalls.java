package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.BatchHandler;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.internal.admission.RepetitionWatch;
import dev.evenkeel.client.internal.consume.MessageSource;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.client.internal.tracing.HandlerSpans;
import dev.evenkeel.client.internal.tracing.SendSpans;
import io.vertx.core.Future;
import java.util.List;

/** Calls a consumer's handler with messages, each in its span. */
final class HandlerCalls {
  private final MemberRun run;
  private final ConsumerHandler handler;

  /** Null: no message has a span. */
  private final HandlerSpans spans;

  /** Of what handlers publish; null: it has no spans. */
  private final SendSpans publishSpans;

  /** Whether the handler may keep state with each message. */
  private final boolean commits;

  /** Null: it is measured elsewhere. */
  private final RepetitionWatch repetition;

  /**
   * @param spans null: no message has a span
   * @param repetition measures how often messages repeat; null: it is measured elsewhere
   */
  HandlerCalls(MemberRun run, HandlerSpans spans, RepetitionWatch repetition) {
    this.run = run;
    handler = run.handler();
    this.spans = spans;
    publishSpans =
        run.kind().publishes() ? SendSpans.of(run.vertx(), run.options().getTracing()) : null;
    commits =
        run.kind().keepsState() && run.options().getDelivery() == DeliveryPolicy.EFFECTIVELY_ONCE;
    this.repetition = repetition;
  }

  /**
   * The loop that takes messages of owned shards to the handler.
   *
   * @param turn does everything that can be done now
   */
  MessageLoop<Task> loop(MessageSource<Task> source, Runnable turn) {
    return run.kind().publishes()
        ? new MessageLoop<>(run, turn, source, this::handleWithContext)
        : new MessageLoop<>(
            run, turn, source, this::handle, run.kind().batches() ? this::handleBatch : null);
  }

  Future<Void> handle(MessageSource.Handed task, Delivery delivery) {
    look(delivery);
    return spans == null
        ? handler.handle(delivery)
        : spans.handle(delivery, () -> handler.handle(delivery));
  }

  private Future<Void> handleBatch(List<Delivery> batch) {
    batch.forEach(this::look);
    BatchHandler to = (BatchHandler) handler;
    return spans == null
        ? to.handleBatch(batch)
        : spans.handleBatch(batch, () -> to.handleBatch(batch));
  }

  private Future<Void> handleWithContext(Task task, Delivery delivery) {
    look(delivery);
    TaskContext of = new TaskContext(run.directory(), commits, task, publishSpans);
    ContextHandler to = (ContextHandler) handler;
    Future<Void> handled =
        spans == null
            ? to.handle(delivery, of)
            : spans.handle(delivery, () -> to.handle(delivery, of));
    return handled == null ? null : handled.onComplete(ended -> of.end());
  }

  private void look(Delivery delivery) {
    if (repetition != null && delivery.attempt() == 1) {
      repetition.see(delivery.topic(), delivery.message());
    }
  }
}
