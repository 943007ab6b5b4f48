package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The first fetches of shards that other members are handing over to this one. The node answers
 * them when the owner has released the shard, while the assignment is still on its way.
 *
 * <p>An answer is used only by the owner of the shard at the same epoch, if it begins where that
 * one begins. In all other cases the shard is fetched as usual. So a fetch ahead can save time, and
 * otherwise changes nothing. Everything happens on the context of the consumer.
 */
final class FetchesAhead {
  /** Small, as they are not counted against the limits of what is pending. */
  static final int BYTES_MAX = 64 << 10;

  static final int MESSAGES_MAX = 128;

  private record Key(Shard shard, long epoch) {}

  private record Ahead(Future<FetchAnswer> answer, AtomicReference<String> node) {}

  private final LogCalls calls;
  private final String group;
  private final Map<Key, Ahead> fetches = new HashMap<>();

  FetchesAhead(LogCalls calls, String group) {
    this.calls = calls;
    this.group = group;
  }

  /** Fetches what is coming, and forgets what is neither coming nor owned. */
  void assigned(Assignment assignment) {
    if (assignment.unchanged() || fetches.isEmpty() && assignment.coming().isEmpty()) {
      return;
    }
    Set<Key> wanted = new HashSet<>();
    assignment.shards().forEach(each -> wanted.add(new Key(each.shard(), each.epoch())));
    for (Assignment.Coming each : assignment.coming()) {
      Key key = new Key(each.shard(), each.epoch());
      wanted.add(key);
      fetches.computeIfAbsent(key, this::fetch);
    }
    fetches.keySet().retainAll(wanted);
  }

  private Ahead fetch(Key key) {
    FetchRequest request =
        new FetchRequest(
            group,
            key.shard,
            key.epoch,
            FetchRequest.AS_GRANTED,
            BYTES_MAX,
            MESSAGES_MAX,
            0,
            Limits.FETCH_WAIT_MILLIS_MAX,
            MessageFilter.ALL);
    AtomicReference<String> node = new AtomicReference<>();
    return new Ahead(calls.fetchAhead(request, node::set), node);
  }

  /**
   * The answer to a fetch ahead that serves this request: it has come with messages, or still may.
   * Null if there is none, and when it was asked for before.
   *
   * @param asked gets the node that was asked
   */
  Future<FetchAnswer> take(FetchRequest request, Consumer<String> asked) {
    if (fetches.isEmpty()) {
      return null;
    }
    Ahead ahead = fetches.remove(new Key(request.shard(), request.epoch()));
    if (ahead == null || ahead.answer.isComplete() && !serves(ahead.answer.result(), request)) {
      return null;
    }
    asked.accept(ahead.node.get());
    return ahead.answer.compose(
        answer -> serves(answer, request) ? Future.succeededFuture(answer) : again(request, asked),
        failure -> again(request, asked));
  }

  private Future<FetchAnswer> again(FetchRequest request, Consumer<String> asked) {
    return calls.fetch(request, false, asked);
  }

  /**
   * @param answer null: it failed
   */
  private static boolean serves(FetchAnswer answer, FetchRequest request) {
    return answer != null
        && !answer.batches().isEmpty()
        && answer.batches().get(0).baseOffset() <= request.offset();
  }
}
