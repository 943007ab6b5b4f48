package dev.evenkeel.cluster;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.IExecutorService;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * Asks nodes whether this process is a member, in rounds: one serves all who asked before it began.
 * A round succeeds when a majority of the nodes that vote has said yes. It asks only so many at
 * first, and all others if one does not say yes at once.
 */
final class HeardRounds {
  static final String EXECUTOR = "evenkeel.heard";
  private static final long ROUND_MILLIS_MAX = 2_000;

  /** After this time without a majority, a round asks the other nodes. */
  private static final long OTHERS_MILLIS = 50;

  /** Most rounds under way. Nobody waits for the end of a round to begin one, if there are few. */
  private static final int ROUNDS_MAX = 2;

  /** So long a node that hangs makes few claims late. */
  private static final int CAREFUL_ROUNDS = 200;

  private final HazelcastInstance hazelcast;
  private final String asker;
  private final IntSupplier ownVoters;
  private final Executor thread;

  /** How many rounds are under way. */
  private int running;

  /** The round after them; null: nobody has asked for it. */
  private CompletableFuture<Void> next;

  // Used by the thread only.
  private int lastVoters;
  private int rounds;

  /** How many of the next rounds ask all nodes, because one was late or did not say yes. */
  private int careful;

  /**
   * @param asker id of this process as a member
   * @param ownVoters how many nodes vote, as this process knows; 0: it is none of them
   * @param thread one thread: sending may block. It completes the rounds, too
   */
  HeardRounds(HazelcastInstance hazelcast, String asker, IntSupplier ownVoters, Executor thread) {
    this.hazelcast = hazelcast;
    this.asker = asker;
    this.ownVoters = ownVoters;
    this.thread = thread;
  }

  /** Completes with a round whose questions are sent after this call; fails with UNAVAILABLE. */
  CompletionStage<Void> next() {
    CompletableFuture<Void> round;
    synchronized (this) {
      if (next != null) {
        return next;
      }
      next = new CompletableFuture<>();
      round = next;
      if (running == ROUNDS_MAX) {
        return round;
      }
      running++;
    }
    execute(this::begin);
    return round;
  }

  private void execute(Runnable task) {
    try {
      thread.execute(task);
    } catch (RuntimeException e) {
      // It was closed meanwhile: no question gets an answer.
      task.run();
    }
  }

  private void begin() {
    CompletableFuture<Void> round;
    synchronized (this) {
      round = next;
      next = null;
      if (round == null) {
        running--;
        return;
      }
    }
    Votes votes = new Votes();
    // One task for the end of a round and the beginning of the next one.
    votes.majority.whenCompleteAsync(
        (done, failure) -> ended(round, votes, failure), this::execute);
    try {
      ask(votes);
    } catch (RuntimeException e) {
      votes.fail();
    }
  }

  private void ended(CompletableFuture<Void> round, Votes votes, Throwable failure) {
    careful = votes.needsAll() ? CAREFUL_ROUNDS : Math.max(0, careful - 1);
    if (failure == null) {
      lastVoters = votes.voters();
      round.complete(null);
    } else {
      round.completeExceptionally(
          Refusal.UNAVAILABLE.error("no majority of the cluster's nodes is in sight"));
    }
    begin();
  }

  private void ask(Votes votes) {
    List<Member> nodes = new ArrayList<>();
    boolean itself = false;
    for (Member member : hazelcast.getCluster().getMembers()) {
      if (!member.isLiteMember() && !member.localMember()) {
        nodes.add(member);
      }
      itself |= !member.isLiteMember() && member.localMember();
    }
    // Another one first each time, so that all have as much to do.
    Collections.rotate(nodes, ++rounds);
    int own = itself ? 1 : 0;
    int enough = lastVoters == 0 || careful > 0 ? nodes.size() : lastVoters / 2 + 1 - own;
    int asked = Math.min(enough, nodes.size());
    List<Member> others = nodes.subList(asked, nodes.size());
    votes.expect(own + asked, others.size(), () -> execute(() -> askAll(others, votes)));
    if (itself) {
      votes.answer(ownVoters.getAsInt());
    } else if (nodes.isEmpty()) {
      votes.fail();
    }
    if (others.isEmpty()) {
      askAll(nodes, votes);
      return;
    }
    ask(nodes.subList(0, asked), votes);
    CompletableFuture<Void> late = new CompletableFuture<>();
    votes.majority.whenComplete((done, failure) -> late.cancel(false));
    late.completeOnTimeout(null, OTHERS_MILLIS, TimeUnit.MILLISECONDS).thenRun(votes::askOthers);
  }

  private void askAll(List<Member> last, Votes votes) {
    ask(last, votes);
    votes.majority.orTimeout(ROUND_MILLIS_MAX, TimeUnit.MILLISECONDS);
  }

  private void ask(List<Member> asked, Votes votes) {
    try {
      IExecutorService nodes = hazelcast.getExecutorService(EXECUTOR);
      for (Member member : asked) {
        // Hazelcast gives such a future. For a callback, it would start two threads per answer on
        // small machines.
        ((CompletableFuture<Integer>) nodes.submitToMember(new HeardQuestion(asker), member))
            .whenCompleteAsync(
                (of, failure) -> votes.answer(failure == null ? of : 0), Runnable::run);
      }
    } catch (RuntimeException e) {
      votes.fail();
    }
  }

  /** The answers to one round. Safe for use from any thread. */
  static final class Votes {
    /** Completes with the majority; fails if it is out of reach. */
    final CompletableFuture<Void> majority = new CompletableFuture<>();

    private int expected;
    private int answered;
    private int yes;
    private int voters;

    /** Asks further nodes, once; null: there are none. */
    private Runnable others;

    private int othersCount;

    /**
     * @param answers how many come
     * @param more how many further ones come if {@code others} runs
     */
    synchronized void expect(int answers, int more, Runnable others) {
      expected = answers;
      othersCount = more;
      this.others = more == 0 ? null : others;
    }

    /** Asks the others if there is no majority yet. */
    void askOthers() {
      Runnable asks;
      synchronized (this) {
        asks = others;
        others = null;
        expected += asks == null ? 0 : othersCount;
      }
      if (asks != null && !majority.isDone()) {
        asks.run();
      }
    }

    /**
     * @param of how many nodes vote, if one that votes has said yes; otherwise 0
     */
    void answer(int of) {
      boolean reached;
      boolean all;
      boolean more;
      synchronized (this) {
        answered++;
        yes += of > 0 ? 1 : 0;
        voters = Math.max(voters, of);
        reached = yes > voters / 2;
        all = answered >= expected;
        more = others != null;
      }
      if (reached) {
        majority.complete(null);
      } else if (all && more) {
        askOthers();
      } else if (all) {
        fail();
      }
    }

    /** Whether the first nodes were not enough. */
    synchronized boolean needsAll() {
      return others == null && othersCount > 0 || majority.isCompletedExceptionally();
    }

    /** How many nodes vote, as far as one has said. */
    synchronized int voters() {
      return voters;
    }

    void fail() {
      majority.completeExceptionally(new IllegalStateException("no majority"));
    }
  }
}
