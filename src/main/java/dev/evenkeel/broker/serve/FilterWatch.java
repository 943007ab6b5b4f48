package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchWalk;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The fetches with filters that have looked at almost everything in a shard. What comes is looked
 * at once for all of them, so that thousands of such fetches cost little more than one. A fetch
 * that was answered comes again a little behind the others: it is late, and the next look begins
 * where it is.
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

  /** A fetch may be so far behind the others. A look takes as much, and as much again. */
  private static final long LATE_BYTES_MAX = FetchService.LOOK_BYTES / 2;

  /** A stay of a fetch. Two of them are never the same. */
  static final class Member {
    final WaitingFetch fetch;

    /** The fetch, from where it has not looked yet. */
    final FetchRequest wanted;

    Member(WaitingFetch fetch, FetchRequest wanted) {
      this.fetch = fetch;
      this.wanted = wanted;
    }
  }

  private final ServeContext serve;
  private final FetchService service;
  private final Shard shard;
  private final FilterIndex<Member> index = new FilterIndex<>();
  private final Set<Member> members = new LinkedHashSet<>();

  /** Members that want something in front of {@link #passed}; the next look is for them, too. */
  private Set<Member> late = new LinkedHashSet<>();

  /** Members that were late when the look under way began. */
  private Set<Member> catchingUp = Set.of();

  /** No member that is not late wants anything between the place where it joined and this one. */
  private long passed;

  /** The last looks, as far back as a fetch may be late. */
  private final Deque<Looked> recent = new ArrayDeque<>();

  private long recentBytes;

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

  /** A look: from which offset on, and how many bytes were new in it. */
  private record Looked(long from, long bytes) {}

  /** The offset up to which a fetch that waits here wants nothing. */
  long passed(Member member) {
    boolean behind = late.contains(member) || catchingUp.contains(member);
    return behind ? member.wanted.offset() : Math.max(passed, member.wanted.offset());
  }

  /**
   * Adds a fetch, unless it is far behind the others. Returns whether.
   *
   * @param end of the shard
   */
  boolean add(Member member, long end) {
    if (isEmpty()) {
      passed = end;
      recent.clear();
      recentBytes = 0;
    }
    long offset = member.wanted.offset();
    if (offset < (recent.isEmpty() ? passed : recent.peek().from)) {
      return false;
    }
    members.add(member);
    index.add(member, member.wanted.filter());
    if (offset < (looking ? lookingTo : passed)) {
      late.add(member);
    }
    return true;
  }

  /** Removes a fetch. Returns the offset up to which it wants nothing. */
  long remove(Member member) {
    final long upTo = passed(member);
    members.remove(member);
    late.remove(member);
    index.remove(member, member.wanted.filter());
    return upTo;
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
    long from = passed;
    for (Member each : late) {
      from = Math.min(from, each.wanted.offset());
    }
    try {
      LogGroupServer group = serve.groupOf(shard);
      group.requireReady();
      long end = group.shard(shard).end();
      if (from >= end) {
        if (group.shard(shard).sealed()) {
          // Owners must learn that nothing comes any more.
          members().forEach(each -> each.fetch.again());
        }
        return;
      }
      lookingTo = end;
      batches = service.batches(group, shard, from, end);
    } catch (RefusedException refused) {
      eachForItself();
      return;
    }
    looking = true;
    lookedNanos = System.nanoTime();
    catchingUp = late;
    late = new LinkedHashSet<>();
    long first = from;
    long fresh = passed;
    batches
        .compose(
            found ->
                found.isEmpty() || found.get(0).baseOffset() > first
                    ? Future.failedFuture("messages are lost")
                    : service.onScanner(() -> match(found, fresh)))
        .onComplete(
            matched -> {
              looking = false;
              if (matched.failed()) {
                eachForItself();
                catchingUp = Set.of();
              } else {
                looked(matched.result());
                look();
              }
            });
  }

  private void looked(Round round) {
    round.found.forEach(
        (member, found) -> {
          // If it has left meanwhile, it looks for itself. If it has come meanwhile, it wants
          // nothing of this, or waits for the next look.
          if (members.contains(member) && !late.contains(member) && found.frame() != null) {
            member.fetch.found(found);
          }
        });
    if (round.end < passed) {
      // There is more in front of the others than a look takes.
      List.copyOf(catchingUp).stream()
          .filter(members::contains)
          .forEach(each -> each.fetch.leave());
    } else if (round.end > passed) {
      recent.add(new Looked(passed, round.bytes));
      recentBytes += round.bytes;
      while (recentBytes > LATE_BYTES_MAX) {
        recentBytes -= recent.remove().bytes;
      }
      passed = round.end;
    }
    catchingUp = Set.of();
    if (round.bytes >= MUCH_BYTES) {
      lookedNanos -= GAP_NANOS;
    }
  }

  /** Each one looks for itself, and learns what is wrong. */
  private void eachForItself() {
    members().forEach(each -> each.fetch.leave());
  }

  /**
   * What some batches have for the members.
   *
   * @param end the offset behind the batches
   * @param bytes of the batches that were new
   */
  private record Round(Map<Member, FilteredBatches.Found> found, long end, long bytes) {}

  /**
   * @param fresh batches from here on are new
   */
  private Round match(List<Cached> batches, long fresh) {
    Map<Member, FilteredBatches> byMember = new HashMap<>();
    Set<Member> hits = new LinkedHashSet<>();
    long bytes = 0;
    for (Cached each : batches) {
      bytes += each.baseOffset() < fresh ? 0 : each.batch().length();
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
