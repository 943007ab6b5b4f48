package dev.evenkeel.assign;

/** Shards without an owner go where load is least; then as {@link Level}. */
final class FillAndLevel implements Strategy {
  @Override
  public int[] owners(GroupView view) {
    Flow flow = view.flow();
    Levelling levelling = new Levelling(flow);
    levelling.fill();
    levelling.exchange();
    return view.dealt(flow);
  }
}
