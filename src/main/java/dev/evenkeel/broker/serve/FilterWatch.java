package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchWalk;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The fetches with filters that have looked at almost everything in a shard. What comes is looked
 * at once for all of them, so that thousands of such fetches cost little more than one.
 *
 * <p>Runs on one context.
 */
final class FilterWatch {
  /**
   * Time between two looks, unless there is much to look at. A fetch that was answered comes again
   * meanwhile, and then need not look for itself at what has come since.
   */
  private static final long GAP_NANOS = 20_000_000;

  /** As much as this at once is much. */
  private static final long MUCH_BYTES = 512 << 10;

  /** A fetch that waits. Two of them are never the same. */
  static final class Member {
    final WaitingFetch request;
    final int index;

    /** The fetch, from where it has not looked yet. */
    final FetchRequest wanted;

    Member(WaitingFetch request, int index, FetchRequest wanted) {
      this.request = request;
      this.index = index;
      this.wanted = wanted;
    }
  }

  private final ServeContext serve;
  private final FetchService service;
  private final Shard shard;
  private final FilterIndex<Member> index = new FilterIndex<>();
  private final Set<Member> members = new LinkedHashSet<>();

  /** No member wants anything between the place where it joined and this one. */
  private long passed;

  private boolean looking;

  /** Nothing from here on is being looked at. */
  private long lookingTo;

  private long lookedNanos = System.nanoTime() - GAP_NANOS;
  private boolean scheduled;

  FilterWatch(ServeContext serve, FetchService service, Shard shard) {
    this.serve = serve;
    this.service = service;
    this.shard = shard;
  }

  /** Where the fetches that wait here have not looked yet. */
  long passed() {
    return passed;
  }

  /**
   * Adds a fetch, if it wants nothing in front of the place where the others are. Returns whether.
   *
   * @param end of the shard
   */
  boolean add(Member member, long end) {
    if (isEmpty()) {
      passed = end;
    }
    long offset = member.wanted.offset();
    if (offset < (looking ? lookingTo : passed)) {
      return false;
    }
    members.add(member);
    index.add(member, member.wanted.filter());
    return true;
  }

  /** Removes a fetch. Returns the offset up to which it wants nothing. */
  long remove(Member member) {
    members.remove(member);
    index.remove(member, member.wanted.filter());
    return passed;
  }

  boolean isEmpty() {
    return members.isEmpty() && !looking;
  }

  /** Those that wait; a copy. */
  List<Member> members() {
    return List.copyOf(members);
  }

  /** The shard has changed: looks at what has come. */
  void look() {
    if (looking || scheduled || members.isEmpty()) {
      return;
    }
    long wait = lookedNanos + GAP_NANOS - System.nanoTime();
    if (wait > 0) {
      scheduled = true;
      service
          .vertx()
          .setTimer(
              Math.max(1, wait / 1_000_000),
              id -> {
                scheduled = false;
                look();
              });
      return;
    }
    Future<List<Cached>> batches;
    try {
      LogGroupServer group = serve.groupOf(shard);
      group.requireReady();
      long end = group.shard(shard).end();
      if (passed >= end) {
        if (group.shard(shard).sealed()) {
          // Owners must learn that nothing comes any more.
          members().forEach(each -> each.request.again(each.index));
        }
        return;
      }
      lookingTo = end;
      batches = service.batches(group, shard, passed, end);
    } catch (RefusedException refused) {
      eachForItself();
      return;
    }
    looking = true;
    lookedNanos = System.nanoTime();
    long from = passed;
    batches
        .compose(
            found ->
                found.isEmpty() || found.get(0).baseOffset() > from
                    ? Future.failedFuture("messages are lost")
                    : service.onScanner(() -> match(found)))
        .onComplete(
            matched -> {
              looking = false;
              if (matched.failed()) {
                eachForItself();
                return;
              }
              Round round = matched.result();
              round.found.forEach(
                  (member, found) -> {
                    // If it has left meanwhile, it looks for itself. If it has come meanwhile, it
                    // wants nothing of this.
                    if (members.contains(member) && found.frame() != null) {
                      member.request.found(member.index, found);
                    }
                  });
              passed = round.end;
              if (round.bytes >= MUCH_BYTES) {
                lookedNanos -= GAP_NANOS;
              }
              look();
            });
  }

  /** Each one looks for itself, and learns what is wrong. */
  private void eachForItself() {
    members().forEach(each -> each.request.leave(each.index));
  }

  /**
   * What some batches have for the members.
   *
   * @param end the offset behind the batches
   * @param bytes of the batches
   */
  private record Round(Map<Member, FilteredBatches.Found> found, long end, long bytes) {}

  private Round match(List<Cached> batches) {
    Map<Member, FilteredBatches> byMember = new HashMap<>();
    Set<Member> hits = new LinkedHashSet<>();
    long bytes = 0;
    for (Cached each : batches) {
      bytes += each.batch().length();
      BatchWalk walk = FilteredBatches.walk(each.batch());
      for (int i = 0; i < each.batch().count(); i++) {
        if (walk == null || !walk.overOne()) {
          // Nobody knows who wants it, so everybody gets it.
          index.all().forEach(member -> of(member, byMember).addWhole(each));
          break;
        }
        index.match(walk, hits);
        if (!hits.isEmpty()) {
          for (Member member : hits) {
            of(member, byMember).add(each, walk, i);
          }
          hits.clear();
        }
      }
    }
    long end = batches.get(batches.size() - 1).endOffset();
    Map<Member, FilteredBatches.Found> found = new HashMap<>();
    byMember.forEach((member, its) -> found.put(member, its.end(end)));
    return new Round(found, end, bytes);
  }

  private FilteredBatches of(Member member, Map<Member, FilteredBatches> byMember) {
    FilteredBatches its = byMember.get(member);
    if (its == null) {
      its = new FilteredBatches(service.frames(member.wanted), member.wanted);
      byMember.put(member, its);
    }
    return its;
  }
}
