package dev.evenkeel.cluster;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.ExecutionCallback;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.IExecutorService;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Asks all nodes whether this process is a member, in rounds: one serves all who asked while the
 * last one was under way. A round succeeds when a majority of the nodes that vote has said yes.
 */
final class HeardRounds {
  static final String EXECUTOR = "evenkeel.heard";
  private static final long ROUND_MILLIS_MAX = 2_000;

  private final HazelcastInstance hazelcast;
  private final String asker;
  private final Executor sender;

  /** Whether a round is under way. */
  private boolean busy;

  /** The round after it; null: nobody has asked for it. */
  private CompletableFuture<Void> next;

  /**
   * @param asker id of this process as a member
   * @param sender one thread: sending may block
   */
  HeardRounds(HazelcastInstance hazelcast, String asker, Executor sender) {
    this.hazelcast = hazelcast;
    this.asker = asker;
    this.sender = sender;
  }

  /** Completes with a round whose questions are sent after this call; fails with UNAVAILABLE. */
  CompletionStage<Void> next() {
    CompletableFuture<Void> round;
    boolean begins;
    synchronized (this) {
      if (next == null) {
        next = new CompletableFuture<>();
      }
      round = next;
      begins = !busy;
      busy = true;
    }
    if (begins) {
      begin();
    }
    return round;
  }

  private void begin() {
    CompletableFuture<Void> round;
    synchronized (this) {
      round = next;
      next = null;
      busy = round != null;
    }
    if (round == null) {
      return;
    }
    Votes votes = new Votes();
    votes
        .majority
        .orTimeout(ROUND_MILLIS_MAX, TimeUnit.MILLISECONDS)
        .whenComplete(
            (done, failure) -> {
              if (failure == null) {
                round.complete(null);
              } else {
                round.completeExceptionally(
                    Refusal.UNAVAILABLE.error("no majority of the cluster's nodes is in sight"));
              }
              begin();
            });
    try {
      sender.execute(() -> ask(votes));
    } catch (RuntimeException e) {
      votes.fail();
    }
  }

  private void ask(Votes votes) {
    try {
      IExecutorService nodes = hazelcast.getExecutorService(EXECUTOR);
      List<Member> asked = new ArrayList<>();
      for (Member member : hazelcast.getCluster().getMembers()) {
        if (!member.isLiteMember()) {
          asked.add(member);
        }
      }
      votes.expect(asked.size());
      for (Member member : asked) {
        nodes.submitToMember(new HeardQuestion(asker), member, votes);
      }
    } catch (RuntimeException e) {
      votes.fail();
    }
  }

  /** The answers to one round. */
  static final class Votes implements ExecutionCallback<Integer> {
    /** Completes with the majority; fails if it is out of reach. */
    final CompletableFuture<Void> majority = new CompletableFuture<>();

    private int expected;
    private int answered;
    private int yes;
    private int voters;

    void expect(int answers) {
      synchronized (this) {
        expected = answers;
      }
      if (answers == 0) {
        fail();
      }
    }

    /**
     * @param of how many nodes vote, if one that votes has said yes; otherwise 0
     */
    @Override
    public void onResponse(Integer of) {
      boolean reached;
      boolean all;
      synchronized (this) {
        answered++;
        yes += of > 0 ? 1 : 0;
        voters = Math.max(voters, of);
        reached = yes > voters / 2;
        all = answered >= expected;
      }
      if (reached) {
        majority.complete(null);
      } else if (all) {
        fail();
      }
    }

    @Override
    public void onFailure(Throwable noAnswer) {
      onResponse(0);
    }

    void fail() {
      majority.completeExceptionally(new IllegalStateException("no majority"));
    }
  }
}
