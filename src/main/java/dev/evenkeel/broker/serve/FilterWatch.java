package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.LookBounds;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.Asker;
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
  private static final long LATE_BYTES_MAX = LookBounds.BYTES / 2;

  /** Steps of {@link FilterIndex#match} in one look: so many take some milliseconds. */
  private static final int STEPS_MAX = 300_000;

  /** Bytes that one look copies for its members. Whoever would get more looks for itself. */
  private static final long COPIED_BYTES_MAX = 4 << 20;

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

  /** Whether a look waits for its turn. */
  private boolean queued;

  /** How many members each user has. */
  private final Map<String, Integer> users = new HashMap<>();

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
    users.merge(user(member), 1, Integer::sum);
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
    users.computeIfPresent(user(member), (name, count) -> count == 1 ? null : count - 1);
    late.remove(member);
    index.remove(member, member.wanted.filter());
    return upTo;
  }

  private static String user(Member member) {
    String user = member.fetch.request().asker().user();
    return user == null ? "" : user;
  }

  boolean isEmpty() {
    return members.isEmpty() && !looking;
  }

  /** Those that wait; a copy. */
  List<Member> members() {
    return List.copyOf(members);
  }

  /** The shard has changed: looks at what has come, in a while. */
  void look() {
    if (looking || queued || scheduled || members.isEmpty()) {
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
    if (begin() != null) {
      queued = true;
      // It is the turn of all its users at once, so that no user's other looks hold it up.
      List<Asker> askers =
          users.keySet().stream().map(user -> new Asker(user, "shard " + shard)).toList();
      service.look(askers, this::lookNow).onComplete(done -> look());
    }
  }

  /** Where a look begins now, and in what. */
  private record Begin(LogGroupServer group, long from, long end) {}

  /** Null: there is nothing to look at. */
  private Begin begin() {
    long from = passed;
    for (Member each : late) {
      from = Math.min(from, each.wanted.offset());
    }
    try {
      LogGroupServer group = serve.groupOf(shard);
      group.requireReady();
      long end = group.shard(shard).end();
      if (from < end) {
        return new Begin(group, from, end);
      }
      if (group.shard(shard).sealed()) {
        // Owners must learn that nothing comes any more.
        members().forEach(each -> each.fetch.again());
      }
    } catch (RefusedException refused) {
      eachForItself();
    }
    return null;
  }

  private Future<Void> lookNow() {
    queued = false;
    Begin begin = members.isEmpty() ? null : begin();
    if (begin == null) {
      return Future.succeededFuture();
    }
    long first = begin.from;
    final long fresh = passed;
    lookingTo = begin.end;
    looking = true;
    lookedNanos = System.nanoTime();
    catchingUp = late;
    late = new LinkedHashSet<>();
    Future<List<Cached>> batches;
    try {
      Asker all = Asker.NODE.at("shard " + shard);
      batches = service.batches(begin.group, all, shard, first, begin.end);
    } catch (RefusedException refused) {
      batches = Future.failedFuture(refused);
    }
    return batches
        .compose(
            found ->
                found.isEmpty() || found.get(0).baseOffset() > first
                    ? Future.failedFuture("messages are lost")
                    : service.onScanner(() -> match(found, first, fresh)))
        .transform(
            matched -> {
              looking = false;
              if (matched.failed()) {
                eachForItself();
                catchingUp = Set.of();
              } else {
                looked(matched.result());
              }
              return Future.succeededFuture();
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
    for (Member member : round.tooMuch) {
      if (members.contains(member) && !late.contains(member)) {
        member.fetch.leave();
      }
    }
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
    if (round.bytes >= MUCH_BYTES || round.end < lookingTo) {
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
   * @param tooMuch members for which there would have been too much to copy
   * @param end the offset behind the messages that were looked at
   * @param bytes of the batches that were new
   */
  private record Round(
      Map<Member, FilteredBatches.Found> found, Set<Member> tooMuch, long end, long bytes) {}

  /**
   * @param first nobody wants messages in front of this offset
   * @param fresh batches from here on are new
   */
  private Round match(List<Cached> batches, long first, long fresh) {
    Map<Member, FilteredBatches> byMember = new HashMap<>();
    Set<Member> hits = new LinkedHashSet<>();
    Set<Member> tooMuch = new LinkedHashSet<>();
    long bytes = 0;
    long copied = 0;
    int steps = 0;
    long end = first;
    for (Cached each : batches) {
      bytes += each.baseOffset() < fresh ? 0 : each.batch().length();
      BatchWalk walk = FilteredBatches.walk(each.batch());
      int skipped = (int) Math.max(0, first - each.baseOffset());
      for (int i = 0; i < each.batch().count(); i++) {
        if (walk == null || !walk.overOne()) {
          // Nobody knows who wants it, so everybody gets it.
          copied += give(index.all(), each, null, 0, copied, byMember, tooMuch);
          break;
        }
        steps += i < skipped ? 1 : index.match(walk, hits);
        if (!hits.isEmpty()) {
          copied += give(hits, each, walk, i, copied, byMember, tooMuch);
          hits.clear();
        }
        end = each.baseOffset() + i + 1;
        if (copied > COPIED_BYTES_MAX || steps > STEPS_MAX) {
          return round(byMember, tooMuch, end, bytes);
        }
      }
      end = each.endOffset();
      if (copied > COPIED_BYTES_MAX) {
        break;
      }
    }
    return round(byMember, tooMuch, end, bytes);
  }

  private static Round round(
      Map<Member, FilteredBatches> byMember, Set<Member> tooMuch, long end, long bytes) {
    Map<Member, FilteredBatches.Found> found = new HashMap<>();
    byMember.forEach(
        (member, its) -> {
          if (!tooMuch.contains(member)) {
            found.put(member, its.end(end));
          }
        });
    return new Round(found, tooMuch, end, bytes);
  }

  /**
   * Gives members a message, or the whole batch.
   *
   * @param walk null: the whole batch
   * @param copied bytes that were copied before
   * @return the bytes that are copied for it
   */
  private long give(
      Set<Member> to,
      Cached batch,
      BatchWalk walk,
      int position,
      long copied,
      Map<Member, FilteredBatches> byMember,
      Set<Member> tooMuch) {
    long each = walk == null ? batch.batch().length() : walk.messageTo() - walk.messageFrom();
    long more = 0;
    for (Member member : to) {
      more += FilteredBatches.PART_BYTES + each;
      if (copied + more > COPIED_BYTES_MAX && !byMember.isEmpty()) {
        tooMuch.add(member);
      } else if (walk == null) {
        of(member, byMember).addWhole(batch);
      } else {
        of(member, byMember).add(batch, walk, position);
      }
    }
    return more;
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
