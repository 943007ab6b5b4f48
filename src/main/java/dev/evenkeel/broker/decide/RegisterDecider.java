package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.NamedProducer;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.List;

/** Gives out ids and epochs of producers. */
public final class RegisterDecider {
  /** Most producers that are remembered by name, for ever. */
  public static final int NAMED_PRODUCERS_MAX = 100_000;

  private final MetaTables tables;

  public RegisterDecider(MetaTables tables) {
    this.tables = tables;
  }

  public Decision<MetaChange> register(MetaCommand.RegisterProducer command) {
    MetaTables.Counters counters = tables.counters();
    long id = counters.nextProducerId();
    MetaChange counted = new MetaChange.PutCounters(counters.afterProducer());
    if (command.name() == null || command.name().isEmpty()) {
      return new Decision<>(List.of(counted), new Reply.OfProducer(id, 0));
    }
    String name = Names.check("producer", command.name());
    NamedProducer known = tables.producer(name);
    if (known != null) {
      NamedProducer next = new NamedProducer(name, known.id(), known.epoch() + 1);
      return new Decision<>(
          List.of(new MetaChange.PutProducer(next)), new Reply.OfProducer(next.id(), next.epoch()));
    }
    if (tables.namedProducers() >= NAMED_PRODUCERS_MAX) {
      return Decision.refused(
          Refusal.TOO_LARGE,
          "there are " + NAMED_PRODUCERS_MAX + " named producers; use an existing name, or none");
    }
    return new Decision<>(
        List.of(new MetaChange.PutProducer(new NamedProducer(name, id, 0)), counted),
        new Reply.OfProducer(id, 0));
  }
}
