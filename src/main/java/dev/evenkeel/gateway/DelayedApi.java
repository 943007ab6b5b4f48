package dev.evenkeel.gateway;

import dev.evenkeel.api.CancelDelayedMessage;
import dev.evenkeel.api.CancelDelayedMessage.CancelledMessage;
import dev.evenkeel.api.DelayedMessageView;
import dev.evenkeel.api.GetDelayedMessage;
import dev.evenkeel.api.ListDelayedMessages;
import dev.evenkeel.api.ListDelayedMessages.DelayedMessages;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.Calls.DelayedAt;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Lists, shows and cancels delayed messages of a topic. */
record DelayedApi(ClusterCalls calls) {
  private static final int AT_ONCE_MAX = 16;

  /** How often a message that moves is looked for. */
  private static final int LOOKS_MAX = 20;

  private static final long LOOK_MILLIS = 250;

  void serve(ApiAnswers answers) {
    answers
        .by(Operations.LIST_DELAYED_MESSAGES, (asked, user) -> of(user).list(asked))
        .by(Operations.GET_DELAYED_MESSAGE, (asked, user) -> of(user).get(asked))
        .by(Operations.CANCEL_DELAYED_MESSAGE, (asked, user) -> of(user).cancel(asked));
  }

  /** On behalf of a user. */
  private DelayedApi of(String user) {
    return new DelayedApi(calls.of(user));
  }

  /**
   * Lists messages by due time, and says where the next page begins. A page may end early, because
   * a shard stops its search after some time.
   */
  private Future<DelayedMessages> list(ListDelayedMessages asked) {
    int limit = asked.limit();
    DelayedId from = asked.from() == null ? DelayedId.first(0) : DelayedId.parse(asked.from());
    byte[] key = asked.key() == null ? null : TextOrBytes.utf8("key", asked.key());
    DelayedMerge merge = new DelayedMerge(limit, Page.BYTES_MAX);
    return calls
        .newestTopics()
        .compose(
            view ->
                read(
                    view.existing(asked.topic()).all(),
                    shard -> read(shard, from.in(shard.shard()), key, limit).onSuccess(merge::add)))
        .map(
            done -> {
              DelayedId next = merge.next();
              return new DelayedMessages(
                  merge.messages().stream().map(DelayedApi::view).toList(),
                  next == null ? null : next.text());
            });
  }

  /** Asks a few shards at once: each may answer with a mebibyte. */
  private static Future<Void> read(List<Shard> shards, Function<Shard, Future<?>> ask) {
    if (shards.isEmpty()) {
      return Future.succeededFuture();
    }
    int some = Math.min(AT_ONCE_MAX, shards.size());
    List<Future<?>> asked = new ArrayList<>(some);
    shards.subList(0, some).forEach(shard -> asked.add(ask.apply(shard)));
    return Future.all(asked).compose(done -> read(shards.subList(some, shards.size()), ask));
  }

  private Future<DelayedAnswer> read(Shard shard, DelayedId from, byte[] key, int max) {
    return ask(
        shard, Calls.READ_DELAYED, new Calls.ReadDelayed(new DelayedAt(shard, from), key, max));
  }

  private <Q, A> Future<A> ask(Shard shard, Call<Q, A> call, Q question) {
    return calls
        .toLeaderOf(shard, call, question)
        .recover(failure -> Future.failedFuture(known(failure)));
  }

  /** A node of version 0.1 does not know the operation. */
  private static Throwable known(Throwable failure) {
    return failure instanceof RefusedException refused && refused.refusal() == Refusal.WRONG_VERSION
        ? Refusal.UNAVAILABLE.error(
            "the node that leads the shard runs a former version: upgrade every node first")
        : failure;
  }

  private static DelayedMessageView view(DelayedAnswer.DelayedCopy waiting) {
    DelayedId id = waiting.id();
    Message message = waiting.message();
    boolean lost = message == null;
    return new DelayedMessageView(
        id.text(),
        id.shard(),
        id.dueMillis(),
        Instant.ofEpochMilli(id.dueMillis()),
        lost ? null : TextOrBytes.of(message.key()),
        lost ? null : TextOrBytes.of(message.payload()),
        lost ? null : (Long) message.timestampMillis(),
        lost ? Map.of() : TextOrBytes.of(message.headers()),
        lost ? "its bytes are lost" : null);
  }

  private Future<DelayedMessageView> get(GetDelayedMessage asked) {
    DelayedId id = DelayedId.parse(asked.id());
    return located(asked.topic(), id, (topic, at) -> find(topic, at).map(DelayedApi::view));
  }

  private Future<CancelledMessage> cancel(CancelDelayedMessage asked) {
    DelayedId id = DelayedId.parse(asked.id());
    return located(
        asked.topic(),
        id,
        (topic, at) ->
            topic.isSealed(at.shard())
                // It cannot be cancelled while it moves: that may be under way already.
                ? find(topic, at)
                    .compose(waits -> Future.failedFuture(new Moving(topic.name(), at)))
                : ask(shard(topic, at), Calls.CANCEL_DELAYED, new DelayedAt(shard(topic, at), at))
                    .map(Calls::taken)
                    .map(done -> new CancelledMessage(id.text(), true)));
  }

  /** The message; fails UNKNOWN_MESSAGE if it does not wait there. */
  private Future<DelayedAnswer.DelayedCopy> find(TopicInfo topic, DelayedId id) {
    return read(shard(topic, id), id, null, 1)
        .map(
            answer ->
                answer.messages().stream()
                    .filter(each -> each.id().equals(id))
                    .findFirst()
                    .orElseThrow(() -> unknown(topic.name(), id)));
  }

  private static Shard shard(TopicInfo topic, DelayedId id) {
    return new Shard(topic.id(), id.shard());
  }

  /**
   * Does something with a delayed message where it is: in the shard of its id, or where a reshard
   * has moved it from there, however often.
   *
   * @param action fails UNKNOWN_MESSAGE if the message is not there, with {@link Moving} if it
   *     moves
   */
  private <T> Future<T> located(
      String topicName, DelayedId id, BiFunction<TopicInfo, DelayedId, Future<T>> action) {
    return located(topicName, id, action, LOOKS_MAX);
  }

  private <T> Future<T> located(
      String topicName,
      DelayedId id,
      BiFunction<TopicInfo, DelayedId, Future<T>> action,
      int looks) {
    return calls
        .topicsWith(topicName, id.shard())
        .compose(
            view -> {
              TopicInfo topic = view.existing(topicName);
              Future<T> here =
                  topic.has(id.shard())
                      ? action.apply(topic, id)
                      : Future.failedFuture(unknown(topicName, id));
              return here.recover(
                  failure ->
                      is(failure, Refusal.UNKNOWN_MESSAGE)
                          ? moved(topicName, id, action, failure)
                          : Future.failedFuture(failure));
            })
        .recover(
            failure ->
                looks > 1 && failure instanceof Moving
                    ? calls
                        .pause(LOOK_MILLIS)
                        .compose(past -> located(topicName, id, action, looks - 1))
                    : Future.failedFuture(failure));
  }

  private static boolean is(Throwable failure, Refusal refusal) {
    return failure instanceof RefusedException refused && refused.refusal() == refusal;
  }

  /** Looks for the message in the shards that have taken the place of the one in its id. */
  private <T> Future<T> moved(
      String topicName,
      DelayedId id,
      BiFunction<TopicInfo, DelayedId, Future<T>> action,
      Throwable failure) {
    return calls
        .newestTopics()
        .compose(
            view -> {
              TopicInfo topic = view.existing(topicName);
              return topic.isSealed(id.shard())
                  ? notWaiting(topic, id)
                      .compose(gone -> findMoved(view, topic, id))
                      .compose(
                          found ->
                              found == null
                                  ? Future.failedFuture(failure)
                                  : action.apply(topic, found))
                  : Future.failedFuture(failure);
            });
  }

  /**
   * Fails with {@link Moving} if the message is still in the sealed shard of its id: the view may
   * have been too old to say that it is sealed. It is looked for there before it is looked for in
   * the other shards: it is in both for a while, and never in none.
   */
  private Future<Void> notWaiting(TopicInfo topic, DelayedId id) {
    return topic.has(id.shard())
        ? find(topic, id)
            .<Void>compose(waits -> Future.failedFuture(new Moving(topic.name(), id)))
            .recover(
                failure ->
                    is(failure, Refusal.UNKNOWN_MESSAGE)
                        ? Future.succeededFuture()
                        : Future.failedFuture(failure))
        : Future.succeededFuture();
  }

  /** Completes with null if no log group has it. */
  private Future<DelayedId> findMoved(ClusterView view, TopicInfo topic, DelayedId id) {
    List<Future<DelayedId>> asked =
        topic
            .numbers()
            .map(number -> view.shardGroups().of(new Shard(topic.id(), number)))
            .distinct()
            .mapToObj(group -> findMoved(group, topic, id))
            .toList();
    return Future.all(asked)
        .map(
            all ->
                all.<DelayedId>list().stream().filter(Objects::nonNull).findFirst().orElse(null));
  }

  /** Completes with null if the log group does not have it. */
  private Future<DelayedId> findMoved(int group, TopicInfo topic, DelayedId id) {
    return calls
        .toDataLeader(
            group,
            Calls.FIND_MOVED,
            new Calls.FindMoved(group, new DelayedAt(shard(topic, id), id)))
        .map(
            moved ->
                moved.shard() < 0
                    ? null
                    : new DelayedId(moved.shard(), id.dueMillis(), moved.serial(), id.position()))
        .recover(
            failure ->
                // A node of a former version moves messages without their former ids.
                is(failure, Refusal.WRONG_VERSION)
                    ? Future.succeededFuture()
                    : Future.failedFuture(failure));
  }

  private static RefusedException unknown(String topicName, DelayedId id) {
    return Refusal.UNKNOWN_MESSAGE.error(
        "no delayed message %s waits in '%s': it was delivered or cancelled, or never was",
        id, topicName);
  }

  /** The message is on its way from a sealed shard to another one. */
  private static final class Moving extends RefusedException {
    private static final long serialVersionUID = 1;

    Moving(String topicName, DelayedId id) {
      super(
          Refusal.UNAVAILABLE,
          "delayed message %s of '%s' waits to be moved to another shard after a reshard, and"
              + " cannot be cancelled until then: try again",
          id,
          topicName);
    }
  }
}
