package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchWalk;
import io.vertx.core.Future;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * The fetches with filters that have looked at everything in a shard and wait for more. What comes
 * is looked at once for all of them, so that thousands of such fetches cost little more than one.
 *
 * <p>Runs on one context.
 */
final class FilterWatch {
  /** Bytes that are looked at in one go. */
  private static final int BYTES_MAX = 1 << 20;

  /**
   * One fetch.
   *
   * @param index of the fetch in its request
   */
  record Member(WaitingFetch request, int index) {}

  private final ServeContext serve;
  private final Shard shard;
  private final Executor scanner;
  private final FilterIndex<Member> index = new FilterIndex<>();
  private final Set<Member> members = new LinkedHashSet<>();

  /** No member wants anything between the place where it joined and this one. */
  private long passed;

  private boolean looking;

  FilterWatch(ServeContext serve, Shard shard, Executor scanner) {
    this.serve = serve;
    this.shard = shard;
    this.scanner = scanner;
  }

  /** Adds a fetch that has looked at everything below {@code end}, the end of the shard. */
  void add(WaitingFetch request, int fetch, MessageFilter filter, long end) {
    if (members.isEmpty() && !looking) {
      passed = end;
    }
    Member member = new Member(request, fetch);
    if (members.add(member)) {
      index.add(member, filter);
    }
  }

  /** Removes a fetch. Returns the offset up to which it wants nothing; -1: it was not here. */
  long remove(WaitingFetch request, int fetch, MessageFilter filter) {
    Member member = new Member(request, fetch);
    if (!members.remove(member)) {
      return -1;
    }
    index.remove(member, filter);
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
    if (looking || members.isEmpty()) {
      return;
    }
    List<Cached> batches;
    try {
      LogGroupServer group = serve.groupOf(shard);
      group.requireReady();
      long end = group.shard(shard).end();
      if (passed >= end) {
        return;
      }
      batches = group.state().tail().read(shard, passed, end, BYTES_MAX, Integer.MAX_VALUE);
    } catch (RefusedException refused) {
      members().forEach(each -> each.request.again(each.index));
      return;
    }
    if (batches.isEmpty()) {
      // It is no longer in memory: each one looks for itself.
      members().forEach(each -> each.request.found(each.index));
      return;
    }
    looking = true;
    Future<Set<Member>> looked = Answers.on(serve.vertx(), scanner, () -> match(batches));
    looked.onComplete(
        found -> {
          looking = false;
          Set<Member> hits = found.result() == null ? members : found.result();
          // Each of them looks again from here on.
          List.copyOf(hits).stream()
              .filter(members::contains)
              .forEach(each -> each.request.found(each.index));
          passed = batches.get(batches.size() - 1).endOffset();
          look();
        });
  }

  /** Those that want some of it; null: that is not known. */
  private Set<Member> match(List<Cached> batches) {
    Set<Member> found = new LinkedHashSet<>();
    for (Cached each : batches) {
      BatchWalk walk;
      try {
        walk = each.batch().walk();
      } catch (RefusedException unreadable) {
        return null;
      }
      for (int i = 0; i < each.batch().count(); i++) {
        if (!walk.overOne()) {
          return null;
        }
        index.match(walk, found);
      }
    }
    return found;
  }
}
