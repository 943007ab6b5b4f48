package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.List;

/** What the core wants done since somebody took it, and the numbers of its requests. */
final class Outbox {
  private List<DispatcherAction> actions = new ArrayList<>();
  private long nextId = 1;

  /** A number for a request that will be answered. */
  long nextId() {
    return nextId++;
  }

  void add(DispatcherAction action) {
    actions.add(action);
  }

  void refuse(long request, Refusal refusal, String detail) {
    actions.add(new DispatcherAction.Refuse(request, refusal, detail));
  }

  /** Returns the number of the request. */
  long writeMeta(MetaCommand command) {
    long id = nextId();
    actions.add(new DispatcherAction.WriteMeta(id, command));
    return id;
  }

  List<DispatcherAction> take() {
    List<DispatcherAction> taken = actions;
    actions = new ArrayList<>();
    return taken;
  }
}
