package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.TopicPattern;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;

/**
 * The topics that a running consumer reads: those that it names, and those that its patterns match.
 * The consumer's options have them as its heartbeats name them. The dispatcher finds out what
 * patterns match, so a heartbeat does not grow with the topics; as long as a node may be of a
 * version that cannot do that, the consumer does. In mode broadcast it always does, as it reads
 * without the dispatcher. All of it happens on the consumer's context.
 */
final class SubscribedTopics {
  /** The consumer around it. */
  interface Port {
    /**
     * @throws RefusedException INVALID if the consumer closes or has ended
     */
    void requireOpen();

    /** The options have other topics than before. */
    void topicsChanged();

    /** Completes when the group reads the topics that the options have now. */
    Future<Void> topicsRead();

    /** Completes when the consumer has ended. */
    Future<Void> over();
  }

  private final MemberRun run;
  private final Port consumer;

  /** Also read by those who wait until the group has forgotten a topic, in any thread. */
  private volatile Subscription subscription;

  /** The view in which the topics were looked up last; null: look again. */
  private ClusterView seen;

  SubscribedTopics(MemberRun run, Port consumer) {
    this.run = run;
    this.consumer = consumer;
    subscription = new Subscription(run.options().getTopics());
    if (subscription.hasPatterns()) {
      run.options().setTopics(subscription.topics(List.of()));
    }
  }

  /** Whether the topics may change without a call of the application. */
  boolean hasPatterns() {
    return subscription.hasPatterns();
  }

  /** The patterns by which a topic is read; empty: by its name. */
  List<String> patterns(String topic) {
    return subscription.patterns(topic);
  }

  /** Finds out which topics there are to read, if that may have changed. */
  void look() {
    ClusterView view = run.directory().current();
    if (view == seen || view == null && subscription.hasPatterns()) {
      return;
    }
    seen = view;
    boolean sendsPatterns =
        view != null
            && view.featureLevel() >= FeatureLevel.TOPIC_PATTERNS
            && run.options().getMode() != ConsumerOptions.Mode.BROADCAST;
    List<String> topics = sendsPatterns ? subscription.entries() : matching(view);
    if (!topics.equals(run.options().getTopics())) {
      run.options().setTopics(topics);
      consumer.topicsChanged();
    }
  }

  private List<String> matching(ClusterView view) {
    return subscription.topics(
        view == null ? List.of() : view.topics().stream().map(TopicInfo::name).toList());
  }

  /** See {@link dev.evenkeel.client.Consumer#subscribe}. */
  Future<Void> add(String topic) {
    try {
      consumer.requireOpen();
      subscription.with(topic, run.toString());
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
    Promise<Void> done = Promise.promise();
    run.directory()
        .view()
        // The topic may have been created since the view came.
        .compose(
            view -> isThere(topic, view) ? Future.succeededFuture(view) : run.directory().newest())
        .onSuccess(view -> run.context().run(() -> add(topic, view).onComplete(done)))
        .onFailure(done::fail);
    return done.future();
  }

  private static boolean isThere(String topic, ClusterView view) {
    return TopicPattern.is(topic) || view.topic(topic) != null;
  }

  private Future<Void> add(String topic, ClusterView view) {
    if (!isThere(topic, view)) {
      return Future.failedFuture(view.missing(topic));
    }
    try {
      // What is read may have changed while the view was asked for.
      List<String> before = run.options().getTopics();
      use(subscription.with(topic, run.toString()));
      return run.options().getTopics().equals(before)
          ? Future.succeededFuture()
          : consumer.topicsRead();
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
  }

  /** See {@link dev.evenkeel.client.Consumer#unsubscribe}. */
  Future<Boolean> remove(String topic) {
    try {
      consumer.requireOpen();
      use(subscription.without(topic, run.toString()));
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
    // The topics of a pattern keep what the group knows of them: they may come back.
    return TopicPattern.is(topic) || subscription.reads(topic)
        ? Future.succeededFuture(false)
        : Unsubscribing.ask(
            run,
            consumer.topicsRead(),
            topic,
            () -> subscription.reads(topic),
            consumer.over()::isComplete);
  }

  private void use(Subscription next) {
    subscription = next;
    seen = null;
    look();
  }
}
