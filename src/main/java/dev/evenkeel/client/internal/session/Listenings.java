package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.frame.SessionFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What listens at which address. One context changes it; pushes may be delivered on any thread. */
final class Listenings {
  private final Map<String, List<SessionListening>> byAddress = new ConcurrentHashMap<>();

  void add(SessionListening listening) {
    byAddress.compute(
        listening.address(),
        (address, others) -> {
          List<SessionListening> all = new ArrayList<>(others == null ? List.of() : others);
          all.add(listening);
          return List.copyOf(all);
        });
  }

  void remove(SessionListening listening) {
    byAddress.computeIfPresent(
        listening.address(),
        (address, all) -> {
          List<SessionListening> others = all.stream().filter(each -> each != listening).toList();
          return others.isEmpty() ? null : others;
        });
  }

  /** The addresses at which something listens. */
  Set<String> addresses() {
    return byAddress.keySet();
  }

  List<SessionListening> at(String address) {
    return byAddress.getOrDefault(address, List.of());
  }

  /** Hands a PUSH to all that listen at its address, or to one if it wants an answer. */
  void deliver(NodeConnection from, SessionFrame push) {
    List<SessionListening> all = at(push.address());
    for (SessionListening each :
        push.correlation() == 0 || all.isEmpty() ? all : all.subList(0, 1)) {
      each.deliver(from, push.correlation(), push.pushBody());
    }
  }
}
