package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.decide.Decision;
import dev.evenkeel.broker.decide.GroupDecider;
import dev.evenkeel.broker.decide.GroupLeaseDecider;
import dev.evenkeel.broker.decide.MoveDecider;
import dev.evenkeel.broker.decide.RegisterDecider;
import dev.evenkeel.broker.decide.TopicDecider;
import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.model.MetaCommand;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Reply;
import dev.evenkeel.store.Store;
import dev.evenkeel.wire.ByteReader;
import dev.evenkeel.wire.CommandCodec;
import dev.evenkeel.wire.Entry;
import dev.evenkeel.wire.ReplyCodec;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * State machine of the meta group: topics, groups and their leases, moves, and ids of producers.
 */
public final class MetaState extends StoredState {
  private volatile MetaTables tables = new MetaTables();

  /**
   * @param directory of the live store
   */
  public MetaState(Path directory, StoreOpener opener) {
    super(directory, opener);
  }

  /** The state in memory; another one after a snapshot was restored. */
  public MetaTables tables() {
    return tables;
  }

  @Override
  void load(Store store) {
    tables = MetaTables.load(store);
  }

  @Override
  Outcome decide(Store store, long index, Entry entry) {
    if (entry.type() != Entry.META_COMMAND) {
      throw new RefusedException(
          Refusal.WRONG_VERSION, "entry of type " + entry.type() + " in the meta group");
    }
    return new Decided(decide(CommandCodec.meta(new ByteReader(entry.body())), entry.nowMillis()));
  }

  private Decision<MetaChange> decide(MetaCommand command, long now) {
    if (command instanceof MetaCommand.CreateTopic c) {
      return new TopicDecider(tables).create(c, now);
    } else if (command instanceof MetaCommand.ActivateTopic c) {
      return new TopicDecider(tables).activate(c);
    } else if (command instanceof MetaCommand.ConfigureTopic c) {
      return new TopicDecider(tables).configure(c);
    } else if (command instanceof MetaCommand.DeleteTopic c) {
      return new TopicDecider(tables).delete(c);
    } else if (command instanceof MetaCommand.RemoveTopic c) {
      return new TopicDecider(tables).remove(c);
    } else if (command instanceof MetaCommand.DeclareGroup c) {
      return new GroupDecider(tables).declare(c, now);
    } else if (command instanceof MetaCommand.SeeGroup c) {
      return new GroupDecider(tables).see(c);
    } else if (command instanceof MetaCommand.AddActiveTime c) {
      return new GroupDecider(tables).passed(c);
    } else if (command instanceof MetaCommand.ForgetGroup c) {
      return new GroupDecider(tables).forget(c);
    } else if (command instanceof MetaCommand.GrantGroupLease c) {
      return new GroupLeaseDecider(tables).grant(c);
    } else if (command instanceof MetaCommand.ReleaseGroupLease c) {
      return new GroupLeaseDecider(tables).release(c);
    } else if (command instanceof MetaCommand.RecordMoves c) {
      return new MoveDecider(tables.moves()).record(c);
    }
    return new RegisterDecider(tables).register((MetaCommand.RegisterProducer) command);
  }

  @Override
  Outcome refuse(RefusedException refused) {
    return new Decided(Decision.refused(refused.refusal(), refused.getMessage()));
  }

  private final class Decided implements Outcome {
    private final List<MetaChange> changes;
    private final Reply reply;

    Decided(Decision<MetaChange> decision) {
      changes = decision.changes();
      reply = decision.reply();
    }

    @Override
    public void write(Store.Write write) {
      changes.forEach(change -> change.write(write));
    }

    @Override
    public void show() {
      changes.forEach(change -> change.show(tables));
    }

    @Override
    public ByteBuffer reply() {
      return ByteBuffer.wrap(ReplyCodec.encode(reply));
    }
  }
}
