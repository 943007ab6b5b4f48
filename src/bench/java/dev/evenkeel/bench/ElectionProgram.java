package dev.evenkeel.bench;

import dev.evenkeel.bench.ElectionCase.Kind;

/**
 * A candidate in a process of its own, so that it can be killed: {@code ElectionProgram KIND
 * ADDRESSES NAME}. It prints a line when it leads.
 */
public final class ElectionProgram {
  private ElectionProgram() {}

  public static void main(String[] args) throws InterruptedException {
    Kind kind = Kind.valueOf(args[0]);
    Runnable elected = () -> System.out.println("elected");
    if (kind == Kind.OURS) {
      Candidacy.election(ServiceClusters.session(args[1]), args[2], elected);
    } else {
      kind.candidacy(HazelcastNode.client(args[1]), args[2], elected);
    }
    Thread.currentThread().join();
  }
}
