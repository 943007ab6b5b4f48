package dev.evenkeel.broker.machine;

import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.broker.decide.Decision;
import dev.evenkeel.broker.decide.MetaDecision;
import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import java.nio.file.Path;
import java.util.List;

/**
 * State machine of the meta log group: topics, groups and their leases, moves, and ids of
 * producers.
 */
public final class MetaState extends StoredState<MetaCommand, MetaChange> {
  private volatile MetaTables tables = new MetaTables();
  private volatile Runnable onResumed = () -> {};

  /**
   * @param directory of the live store
   * @param levelRead the highest {@link FeatureLevel} that this node reads
   */
  public MetaState(Path directory, StoreOpener opener, int levelRead) {
    super(directory, opener, levelRead);
  }

  /** The state in memory; another one after a snapshot was restored. */
  public MetaTables tables() {
    return tables;
  }

  /**
   * @param task from now on runs on the applying thread after a pause of a group may have ended
   */
  public void onResumed(Runnable task) {
    onResumed = task;
  }

  @Override
  void load(Store store) {
    tables = MetaTables.load(store);
    onResumed.run();
  }

  @Override
  MetaCommand read(Entry entry) {
    if (entry.type() != Entry.META_COMMAND) {
      throw WRONG_VERSION.error("entry of type " + entry.type() + " in the meta group");
    }
    return CommandCodec.meta(new ByteReader(entry.body()));
  }

  @Override
  void check(MetaCommand command) {
    command.check();
  }

  @Override
  public int levelOfCluster() {
    return Math.max(FeatureLevel.OLDEST, tables.featureLevel());
  }

  @Override
  boolean raisesTo(MetaCommand command, int wanted) {
    return new MetaCommand.RaiseFeatureLevel(wanted).equals(command);
  }

  @Override
  Outcome<MetaChange> decide(
      Store store, long term, long index, long nowMillis, MetaCommand command) {
    Decision<MetaChange> decision = new MetaDecision(tables, term, nowMillis, level()).of(command);
    return Outcome.of(decision.changes(), decision.reply());
  }

  @Override
  Outcome<MetaChange> refuse(long index, MetaCommand command, Refusal refusal, String detail) {
    return Outcome.of(List.of(), Reply.refused(refusal, detail));
  }

  @Override
  void show(List<MetaChange> changes, long index, EntryBody body) {
    tables.begin(index);
    changes.forEach(change -> change.show(tables));
    tables.end();
    if (changes.stream().anyMatch(MetaChange::resumes)) {
      onResumed.run();
    }
  }
}
