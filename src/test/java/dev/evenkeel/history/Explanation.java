package dev.evenkeel.history;

import dev.evenkeel.history.History.Call;
import dev.evenkeel.history.Linearizer.Verdict;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** Says for people why the history of a shard cannot be explained. */
final class Explanation {
  private static final int CALLS_SHOWN_MAX = 25;

  private final Shard shard;
  private final Verdict<ShardModel> verdict;
  private final List<Call<?>> callOf;
  private final List<Call<?>> transfers;

  /**
   * @param callOf of each operation
   */
  Explanation(
      Shard shard, Verdict<ShardModel> verdict, List<Call<?>> callOf, List<Call<?>> transfers) {
    this.shard = shard;
    this.verdict = verdict;
    this.callOf = callOf;
    this.transfers = transfers;
  }

  String text() {
    List<Call<?>> order = new ArrayList<>();
    verdict.order().forEach(op -> order.add(callOf.get(op)));
    int from = Math.max(0, order.size() - CALLS_SHOWN_MAX);
    List<Call<?>> last = order.subList(from, order.size());
    LinkedHashSet<Call<?>> stuck = new LinkedHashSet<>();
    verdict.stuck().forEach(op -> stuck.add(callOf.get(op)));
    StringBuilder text = new StringBuilder(1_000);
    text.append("the history of shard ").append(shard).append(" cannot be explained.\n");
    text.append("In this order (sent..answered, in ms) all is well, after ").append(from);
    text.append(" calls before:\n");
    last.forEach(call -> text.append("  ").append(call).append('\n'));
    text.append("Then the shard is as follows:\n  ").append(verdict.state()).append('\n');
    text.append("None of these can be next, and one must:\n");
    stuck.forEach(call -> text.append("  ").append(call).append('\n'));
    List<Call<?>> shown = new ArrayList<>(last);
    shown.addAll(stuck);
    transfers.stream()
        .filter(transfer -> History.near(transfer, shown))
        .forEach(transfer -> text.append("meanwhile: ").append(transfer).append('\n'));
    return text.toString();
  }
}
