package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Link;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** Passes a link's states on until it is ended: the link itself keeps its handlers for ever. */
final class LinkRelay {
  private final AtomicReference<Consumer<Link.State>> target = new AtomicReference<>();

  private LinkRelay() {}

  static LinkRelay of(Link link, Consumer<Link.State> to) {
    LinkRelay relay = new LinkRelay();
    relay.target.set(to);
    // Only the reference is kept by the link, so an ended consumer can be collected.
    AtomicReference<Consumer<Link.State>> kept = relay.target;
    link.onState(
        state -> {
          Consumer<Link.State> now = kept.get();
          if (now != null) {
            now.accept(state);
          }
        });
    return relay;
  }

  void end() {
    target.set(null);
  }
}
