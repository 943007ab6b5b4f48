package dev.evenkeel.assign;

/** Every owner keeps what it has. */
final class Stay implements Strategy {
  @Override
  public int[] owners(GroupView view) {
    return view.roster().owner.clone();
  }
}
