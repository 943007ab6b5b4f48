package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The fetches that wait, by what they wait for. Each is looked at again when that has changed.
 *
 * <p>Runs on one context.
 */
final class WaitingFetches {
  private static final int FEW = 1_000;

  /** Fetches that are looked at again in one turn of the event loop. */
  private static final int WAKE_MAX = 256;

  private final ServeContext serve;
  private final FetchMemory memory;
  private final Function<Shard, FilterWatch> newWatch;

  /** Those without a filter; the others are in {@link #watches}. */
  private final Map<Shard, Set<WaitingFetch>> waiting = new HashMap<>();

  /** Those that have a lease. */
  private final Map<LeaseKey, Set<WaitingFetch>> byLease = new HashMap<>();

  /** Requests that came over a connection of a client. */
  private final Map<String, Set<WaitingRequest>> byConnection = new HashMap<>();

  private final Map<Shard, FilterWatch> watches = new HashMap<>();

  /** Fetches with a filter whose groups are in debt. */
  private final Map<Shard, Set<WaitingFetch>> inDebt = new HashMap<>();

  private int count;

  /**
   * @param memory that they take
   * @param newWatch makes the watch of a shard
   */
  WaitingFetches(ServeContext serve, FetchMemory memory, Function<Shard, FilterWatch> newWatch) {
    this.serve = serve;
    this.memory = memory;
    this.newWatch = newWatch;
  }

  FetchMemory memory() {
    return memory;
  }

  /** How many fetches wait. */
  int count() {
    return count;
  }

  private static LeaseKey leaseKey(WaitingFetch fetch) {
    return new LeaseKey(fetch.asked().shard(), fetch.asked().group());
  }

  private static boolean hasLease(WaitingFetch fetch) {
    return !fetch.asked().group().isEmpty();
  }

  /**
   * Takes the room for a request; {@link #give} follows, or {@link #add}.
   *
   * @throws RefusedException OVERLOADED if there is no room for it
   */
  void take(WaitingRequest request) {
    List<WaitingFetch> fetches = request.fetches();
    if (count + fetches.size() > serve.options().get(BrokerOptions.FETCHES_WAITING_MAX)) {
      throw OVERLOADED.error(
          "%s fetches wait on this node: ask again later, or another node", count);
    }
    memory.take(request.asker().user(), fetches.stream().map(WaitingFetch::asked).toList());
  }

  /** A request does not wait. */
  void give(WaitingRequest request) {
    request.fetches().forEach(each -> memory.give(request.asker().user(), each.asked()));
  }

  /**
   * A request waits from now on, until {@link #ended}, and each of its fetches until {@link
   * #remove}.
   */
  void add(WaitingRequest request) {
    List<WaitingFetch> fetches = request.fetches();
    if (request.asker().connection() != null) {
      byConnection
          .computeIfAbsent(request.asker().connection(), any -> new HashSet<>(2))
          .add(request);
    }
    for (WaitingFetch each : fetches) {
      if (hasLease(each)) {
        // An owner that asks again has given up its former fetch: nobody waits for that answer.
        // Whoever gets the shard next asks at another epoch.
        copy(byLease, leaseKey(each)).stream()
            .filter(former -> former.asked().epoch() == each.asked().epoch())
            .forEach(WaitingFetch::giveUp);
      }
    }
    count += fetches.size();
    for (WaitingFetch each : fetches) {
      if (hasLease(each)) {
        add(byLease, leaseKey(each), each);
      }
      if (!each.asked().filters()) {
        add(waiting, each.asked().shard(), each);
      }
    }
    // An entry applied between the look and the wait has been announced already, or will be.
  }

  /**
   * After which time what a filter has passed over counts as consumed, if nothing else comes: soon,
   * as long as few fetches wait.
   */
  int progressMillis() {
    return count < FEW ? 1_000 : 5_000;
  }

  /** A request waits no more. */
  void ended(WaitingRequest request) {
    byConnection.computeIfPresent(
        String.valueOf(request.asker().connection()),
        (connection, all) -> all.remove(request) && all.isEmpty() ? null : all);
  }

  /** Nobody waits for the fetches of a connection any more. */
  void connectionEnded(String connection) {
    Set<WaitingRequest> left = byConnection.remove(connection);
    if (left != null) {
      RefusedException gone = UNAVAILABLE.error("the connection is closed");
      left.forEach(each -> each.refuse(gone));
    }
  }

  /** A fetch is no longer awaited. */
  void remove(WaitingFetch fetch) {
    count--;
    memory.give(fetch.request().asker().user(), fetch.asked());
    remove(waiting, fetch.asked().shard(), fetch);
    remove(inDebt, fetch.asked().shard(), fetch);
    if (hasLease(fetch)) {
      remove(byLease, leaseKey(fetch), fetch);
    }
  }

  private static <K> void add(Map<K, Set<WaitingFetch>> to, K key, WaitingFetch fetch) {
    to.computeIfAbsent(key, any -> new LinkedHashSet<>(2)).add(fetch);
  }

  private static <K> void remove(Map<K, Set<WaitingFetch>> from, K key, WaitingFetch fetch) {
    Set<WaitingFetch> of = from.get(key);
    if (of != null && of.remove(fetch) && of.isEmpty()) {
      from.remove(key);
    }
  }

  private static <K> List<WaitingFetch> copy(Map<K, Set<WaitingFetch>> from, K key) {
    return List.copyOf(from.getOrDefault(key, Set.of()));
  }

  /**
   * Lets a fetch with a filter wait together with others. Returns whether.
   *
   * @param end of the shard
   * @param atEnd whether the fetch wants nothing before the end
   */
  boolean watch(FilterWatch.Member member, long end, boolean atEnd) {
    Shard shard = member.wanted.shard();
    if (!atEnd && !watches.containsKey(shard)) {
      return false;
    }
    FilterWatch watch = watches.computeIfAbsent(shard, newWatch);
    if (!watch.add(member, end)) {
      return false;
    }
    // Not now: the fetch does not know its member yet.
    serve.run(watch::look);
    return true;
  }

  /** The fetch of a member, from where the watch is. */
  FetchRequest now(FilterWatch.Member member) {
    long passed = watches.get(member.wanted.shard()).passed(member);
    return passed > member.wanted.offset() ? member.wanted.from(passed) : member.wanted;
  }

  /** Ends {@link #watch}. Returns the offset up to which the fetch wants nothing. */
  long unwatch(FilterWatch.Member member) {
    FilterWatch watch = watches.get(member.wanted.shard());
    long passed = watch.remove(member);
    if (watch.isEmpty()) {
      watches.remove(member.wanted.shard());
    }
    return passed;
  }

  /** Looks again at the fetches that wait for a shard. */
  void shardChanged(Shard shard) {
    wake(copy(waiting, shard), 0);
    FilterWatch watch = watches.get(shard);
    if (watch != null) {
      watch.look();
    }
  }

  /** A few at once, so that others get their turn, however many fetches somebody lets wait. */
  private void wake(List<WaitingFetch> all, int from) {
    int to = Math.min(all.size(), from + WAKE_MAX);
    all.subList(from, to).forEach(WaitingFetch::again);
    if (to < all.size()) {
      serve.run(() -> wake(all, to));
    }
  }

  /** Looks again at the fetches of a group that wait for a shard. */
  void leaseChanged(LeaseKey key) {
    copy(byLease, key).forEach(WaitingFetch::again);
  }

  /** Looks again at every waiting fetch of the shards wanted. */
  void changed(Predicate<Shard> wanted) {
    List.copyOf(waiting.keySet()).stream().filter(wanted).forEach(this::shardChanged);
    for (Map.Entry<Shard, FilterWatch> watch : List.copyOf(watches.entrySet())) {
      if (wanted.test(watch.getKey())) {
        watch.getValue().members().forEach(each -> each.fetch.again());
      }
    }
  }

  /** Answers waiting fetches of a group: the shard has retries that its owner did not add. */
  void retriesAdded(LeaseKey key) {
    copy(byLease, key).forEach(WaitingFetch::answerNothing);
  }

  /** Looks again at the fetches of a shard: their group was in debt. */
  void paid(Shard shard) {
    shardChanged(shard);
    Set<WaitingFetch> held = inDebt.remove(shard);
    if (held != null) {
      held.forEach(WaitingFetch::again);
    }
  }

  /** The group of a waiting fetch is in debt: it is looked at again when that is paid. */
  void addInDebt(WaitingFetch fetch) {
    add(inDebt, fetch.asked().shard(), fetch);
  }

  /** Refuses all of them. */
  void refuse(RefusedException why) {
    Set<WaitingFetch> all = new LinkedHashSet<>();
    waiting.values().forEach(all::addAll);
    byLease.values().forEach(all::addAll);
    watches.values().forEach(each -> each.members().forEach(one -> all.add(one.fetch)));
    all.forEach(each -> each.request().refuse(why));
  }
}
