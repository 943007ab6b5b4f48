package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.protocol.MetaCommand;
import java.util.List;

/** Raises the feature level of the cluster. It never goes down: the log has such entries. */
public final class FeatureLevelDecider {
  private final MetaTables tables;

  public FeatureLevelDecider(MetaTables tables) {
    this.tables = tables;
  }

  public Decision<MetaChange> raise(MetaCommand.RaiseFeatureLevel command) {
    return command.level() <= tables.featureLevel()
        ? Decision.of(List.of())
        : Decision.of(List.of(new MetaChange.PutFeatureLevel(command.level())));
  }
}
