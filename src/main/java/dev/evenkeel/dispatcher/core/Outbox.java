package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.List;

/** What the core wants done since somebody took it, and the numbers of its requests. */
final class Outbox {
  private List<Action> actions = new ArrayList<>();
  private long nextId = 1;

  /** A number for a request that will be answered. */
  long nextId() {
    return nextId++;
  }

  void add(Action action) {
    actions.add(action);
  }

  void refuse(long request, Refusal refusal, String detail) {
    actions.add(new Action.Refuse(request, refusal, detail));
  }

  List<Action> take() {
    List<Action> taken = actions;
    actions = new ArrayList<>();
    return taken;
  }
}
