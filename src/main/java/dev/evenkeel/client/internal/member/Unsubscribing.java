package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.bus.GroupQuestions.What;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.util.function.BooleanSupplier;

/**
 * Makes a group forget a topic that a member no longer reads, unless other members read it. The
 * dispatcher waits until the member has released its shards; repeating the request is safe.
 */
final class Unsubscribing {
  /** How long to look for a dispatcher that forgets the topic, once its shards are released. */
  private static final long RELEASED_MILLIS_MAX = 30_000;

  /** Timeout of a request: longer than the dispatcher waits. */
  private static final long TIMEOUT_MILLIS = 25_000;

  private static final long PAUSE_MILLIS = 500;

  private Unsubscribing() {}

  /**
   * Asks the dispatcher once it knows that the member does not read the topic, until the result is
   * known, or for the lock time and 30 seconds. It does not ask again once the member reads the
   * topic again, or has ended: a later run of it may read the topic.
   *
   * @param topicsRead completes when the dispatcher knows what the member reads now
   * @param readsAgain whether the member reads the topic again
   * @param over whether the member has ended
   * @return whether the group has forgotten the topic; false if a member reads it
   */
  static Future<Boolean> ask(
      MemberRun run,
      Future<Void> topicsRead,
      String topic,
      BooleanSupplier readsAgain,
      BooleanSupplier over) {
    BooleanSupplier cancelled = () -> readsAgain.getAsBoolean() || over.getAsBoolean();
    // Of two members that unsubscribe at a time, the one that asks last must be the last reader.
    return topicsRead
        .compose(
            known ->
                readsAgain.getAsBoolean()
                    ? Future.succeededFuture(false)
                    : ask(run, topic, cancelled))
        .recover(
            failure ->
                switch (RefusedException.of(failure).refusal()) {
                  case GROUP_ACTIVE -> Future.succeededFuture(false);
                  case UNKNOWN_GROUP, UNKNOWN_TOPIC -> Future.succeededFuture(true);
                  default ->
                      Future.failedFuture(
                          unknown(RefusedException.of(failure), run.options().getGroup(), topic));
                });
  }

  private static Future<Boolean> ask(MemberRun run, String topic, BooleanSupplier cancelled) {
    ConsumerOptions options = run.options();
    What what = new What(options.getGroup(), topic, options.getMember());
    long withinMillis = options.getLockTimeMillis() + RELEASED_MILLIS_MAX;
    return new LeaderClient(run.link(), run.directory())
        .request(
            ClusterView.META,
            Addresses::groups,
            GroupQuestions.request(new GroupQuestions.Forget(what)),
            TIMEOUT_MILLIS,
            Retry.within(withinMillis, PAUSE_MILLIS, cancelled))
        .map(true);
  }

  private static RefusedException unknown(RefusedException refused, String group, String topic) {
    return refused.refusal().retriable()
        ? new RefusedException(
            refused.refusal(),
            "unsubscribed, but it is not known whether group '%s' and topic '%s' are forgotten: %s",
            group,
            topic,
            refused.getMessage())
        : refused;
  }
}
