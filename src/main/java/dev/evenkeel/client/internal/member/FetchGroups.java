package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Fetches shards to which little comes with one request for many of them, so that thousands of idle
 * shards cost little. Fetches that are made in one turn of the event loop, and go to the same node,
 * become a group. The node answers a group once there is something for one of its shards; then all
 * of them are fetched again, by whoever made the fetches.
 *
 * <p>A new group takes in those under way that are no larger than itself, so that groups grow: the
 * node drops a fetch when there is a later one for the same shard and consumer group. By this rule
 * each fetch is sent again at most log₂ {@link Limits#FETCHES_A_REQUEST_MAX} times, as in a binary
 * counter.
 *
 * <p>All of it happens on the consumer's context.
 */
final class FetchGroups {
  /** How long the answer may take beyond the wait. */
  private static final long GRACE_MILLIS = 5_000;

  /** A group that ends empty before this time was not answered because of a message. */
  private static final long EMPTY_GAP_MILLIS = 100;

  private static final class Fetch {
    final FetchRequest request;
    final Consumer<String> asked;
    final Promise<FetchAnswer> promise = Promise.promise();

    /** The last group that it was sent with; null: it is on its way alone. */
    Group group;

    Fetch(FetchRequest request, Consumer<String> asked) {
      this.request = request;
      this.asked = asked;
    }
  }

  private static final class Group {
    final List<Fetch> fetches;
    final long sentMillis;

    Group(List<Fetch> fetches, long sentMillis) {
      this.fetches = fetches;
      this.sentMillis = sentMillis;
      fetches.forEach(each -> each.group = this);
    }

    /** Fetches that no later group has taken over. */
    List<Fetch> own() {
      return fetches.stream()
          .filter(each -> each.group == this && !each.promise.future().isComplete())
          .toList();
    }
  }

  private final Link link;
  private final OwnContext context;
  private final Function<Shard, String> leaders;
  private final UnaryOperator<FetchRequest> known;
  private final BiFunction<FetchRequest, Consumer<String>, Future<FetchAnswer>> alone;

  /** Fetches that are sent at the end of this turn. */
  private final List<Fetch> made = new ArrayList<>();

  /** Groups under way, by node. */
  private final Map<String, Set<Group>> underWay = new HashMap<>();

  /** Nodes of a former version, which know no groups. */
  private final Set<String> former = new HashSet<>();

  /**
   * @param leaders gives the node that leads a shard, or null
   * @param known gives a request the form that the nodes know
   * @param alone fetches one shard
   */
  FetchGroups(
      Link link,
      OwnContext context,
      Function<Shard, String> leaders,
      UnaryOperator<FetchRequest> known,
      BiFunction<FetchRequest, Consumer<String>, Future<FetchAnswer>> alone) {
    this.link = link;
    this.context = context;
    this.leaders = leaders;
    this.known = known;
    this.alone = alone;
  }

  /**
   * Fetches a shard together with others. If nothing came for it when the group was answered, the
   * answer is {@link FetchAnswer#nothingFor}.
   *
   * @param asked gets each node that the request goes to
   */
  Future<FetchAnswer> fetch(FetchRequest request, Consumer<String> asked) {
    Fetch fetch = new Fetch(request, asked);
    made.add(fetch);
    if (made.size() == 1) {
      context.later(this::send);
    }
    return fetch.promise.future();
  }

  private void send() {
    List<Fetch> now = List.copyOf(made);
    made.clear();
    Map<String, List<Fetch>> byNode = new HashMap<>();
    for (Fetch each : now) {
      String node = leaders.apply(each.request.shard());
      if (node == null || former.contains(node)) {
        alone(each);
      } else {
        byNode.computeIfAbsent(node, any -> new ArrayList<>()).add(each);
      }
    }
    byNode.forEach(this::send);
  }

  private void alone(Fetch fetch) {
    fetch.group = null;
    alone.apply(fetch.request, fetch.asked).onComplete(fetch.promise);
  }

  private void send(String node, List<Fetch> fetches) {
    // Fetches without a consumer group take the place of no other.
    if (!fetches.get(0).request.group().isEmpty()) {
      takeIn(node, fetches);
    }
    for (int i = 0; i < fetches.size(); i += Limits.FETCHES_A_REQUEST_MAX) {
      int end = Math.min(fetches.size(), i + Limits.FETCHES_A_REQUEST_MAX);
      sendGroup(node, List.copyOf(fetches.subList(i, end)));
    }
  }

  /** Adds the fetches of groups that are no larger than the last group of {@code fetches}. */
  private void takeIn(String node, List<Fetch> fetches) {
    int last = fetches.size() % Limits.FETCHES_A_REQUEST_MAX;
    Iterator<Group> each = underWay.getOrDefault(node, Set.of()).iterator();
    while (last > 0 && each.hasNext()) {
      List<Fetch> own = each.next().own();
      if (own.size() <= last && last + own.size() <= Limits.FETCHES_A_REQUEST_MAX) {
        fetches.addAll(own);
        last += own.size();
      }
    }
  }

  private void sendGroup(String node, List<Fetch> fetches) {
    Group group = new Group(fetches, Clock.millis());
    Set<Group> of = underWay.computeIfAbsent(node, any -> new HashSet<>());
    of.add(group);
    fetches.forEach(each -> each.asked.accept(node));
    FetchManyRequest request =
        new FetchManyRequest(fetches.stream().map(each -> known.apply(each.request)).toList());
    Buffer frame = Frames.request(Op.FETCH_MANY, request.encode());
    link.request(Addresses.data(node), frame, request.waitMillis() + GRACE_MILLIS)
        .map(answer -> FetchManyAnswer.decode(Frames.answerBody(answer)))
        .onComplete(
            answer ->
                context.run(
                    () -> {
                      of.remove(group);
                      if (answer.succeeded()) {
                        answered(group, request.placed(), answer.result());
                      } else {
                        failed(node, group, RefusedException.of(answer.cause()));
                      }
                    }));
  }

  private void answered(Group group, boolean placed, FetchManyAnswer answer) {
    for (FetchManyAnswer.Part part : answer.parts()) {
      if (part.index() >= 0 && part.index() < group.fetches.size()) {
        answered(group.fetches.get(part.index()), placed, part.frame());
      }
    }
    List<Fetch> own = group.own();
    boolean early =
        answer.parts().isEmpty() && Clock.millis() - group.sentMillis < EMPTY_GAP_MILLIS;
    for (Fetch each : own) {
      if (early) {
        alone(each);
      } else {
        each.promise.complete(FetchAnswer.nothingFor(each.request));
      }
    }
  }

  /**
   * Takes the answer to one fetch. Some refusals are left to the way in which one shard is fetched.
   */
  private void answered(Fetch fetch, boolean placed, Buffer frame) {
    if (fetch.group == null || fetch.promise.future().isComplete()) {
      return;
    }
    FetchAnswer answer;
    try {
      answer = FetchAnswer.decode(Frames.answerBody(frame), placed);
    } catch (RefusedException refused) {
      if (refused.refusal() == Refusal.FENCED || passes(refused)) {
        fetch.promise.fail(refused);
      } else {
        alone(fetch);
      }
      return;
    }
    fetch.promise.complete(answer);
  }

  /** Whether whoever made the fetch may make it again after a pause, to the same node. */
  private static boolean passes(RefusedException refused) {
    return refused.refusal().retriable() && refused.refusal() != Refusal.NOT_LEADER;
  }

  private void failed(String node, Group group, RefusedException refused) {
    List<Fetch> own = group.own();
    if (refused.refusal() == Refusal.WRONG_VERSION) {
      former.add(node);
    }
    if (passes(refused)) {
      // One asks alone, and so learns of another leader, if there is one.
      own.stream().limit(1).forEach(this::alone);
      own.stream().skip(1).forEach(each -> each.promise.fail(refused));
    } else {
      own.forEach(this::alone);
    }
  }
}
