package dev.evenkeel.broker.machine;

import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.broker.decide.ClusterDecider;
import dev.evenkeel.broker.decide.Decision;
import dev.evenkeel.broker.decide.GroupDecider;
import dev.evenkeel.broker.decide.MoveDecider;
import dev.evenkeel.broker.decide.PauseDecider;
import dev.evenkeel.broker.decide.TopicDecider;
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
    return tables.featureLevel();
  }

  @Override
  boolean raisesTo(MetaCommand command, int wanted) {
    return command instanceof MetaCommand.RaiseFeatureLevel raise && raise.level() == wanted;
  }

  @Override
  Outcome<MetaChange> decide(Store store, long index, long nowMillis, MetaCommand command) {
    Decision<MetaChange> decision = decide(command, nowMillis);
    return Outcome.of(decision.changes(), decision.reply());
  }

  private Decision<MetaChange> decide(MetaCommand command, long now) {
    if (command instanceof MetaCommand.CreateTopic c) {
      return new TopicDecider(tables).create(c, now);
    } else if (command instanceof MetaCommand.ActivateTopic c) {
      return new TopicDecider(tables).activate(c);
    } else if (command instanceof MetaCommand.ConfigureTopic c) {
      return new TopicDecider(tables).configure(c);
    } else if (command instanceof MetaCommand.DeleteTopic c) {
      return new TopicDecider(tables).delete(c, level());
    } else if (command instanceof MetaCommand.RemoveTopic c) {
      return new TopicDecider(tables).remove(c, level());
    } else if (command instanceof MetaCommand.ReshardTopic c) {
      return new TopicDecider(tables).reshard(c);
    } else if (command instanceof MetaCommand.OpenLayout c) {
      return new TopicDecider(tables).open(c, now);
    } else if (command instanceof MetaCommand.ForgetLayout c) {
      return new TopicDecider(tables).forget(c, level());
    } else if (command instanceof MetaCommand.DeclareGroup c) {
      return new GroupDecider(tables).declare(c, now);
    } else if (command instanceof MetaCommand.SeeGroup c) {
      return new GroupDecider(tables).see(c);
    } else if (command instanceof MetaCommand.AddActiveTime c) {
      return new ClusterDecider(tables).passed(c);
    } else if (command instanceof MetaCommand.ForgetGroup c) {
      return new GroupDecider(tables).forget(c);
    } else if (command instanceof MetaCommand.ForgetTopic c) {
      return new GroupDecider(tables).forget(c);
    } else if (command instanceof MetaCommand.ForgetPattern c) {
      return new GroupDecider(tables).forget(c);
    } else if (command instanceof MetaCommand.GrantGroupLease c) {
      return new GroupDecider(tables).grant(c);
    } else if (command instanceof MetaCommand.ReleaseGroupLease c) {
      return new GroupDecider(tables).release(c);
    } else if (command instanceof MetaCommand.RecordMoves c) {
      return new MoveDecider(tables.moves()).record(c);
    } else if (command instanceof MetaCommand.RegisterProducer c) {
      return new ClusterDecider(tables).register(c);
    } else if (command instanceof MetaCommand.ContinueProducer c) {
      return new ClusterDecider(tables).next(c);
    } else if (command instanceof MetaCommand.RaiseFeatureLevel c) {
      return new ClusterDecider(tables).raise(c);
    }
    if (command instanceof MetaCommand.PutNodes c) {
      return new ClusterDecider(tables).put(c);
    } else if (command instanceof MetaCommand.RemoveNode c) {
      return new ClusterDecider(tables).remove(c);
    } else if (command instanceof MetaCommand.PlaceGroup c) {
      return Decision.of(List.of(MetaChange.putPlace(c.group(), c.nodes())));
    } else if (command instanceof MetaCommand.AddGroup c) {
      return new ClusterDecider(tables).add(c);
    } else if (command instanceof MetaCommand.OpenGroup c) {
      return new ClusterDecider(tables).open(c);
    }
    if (command instanceof MetaCommand.SetQuota c) {
      return new ClusterDecider(tables).set(c);
    } else if (command instanceof MetaCommand.PauseGroup c) {
      return new PauseDecider(tables).pause(c);
    }
    throw new IllegalStateException("no decider handles " + command);
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
