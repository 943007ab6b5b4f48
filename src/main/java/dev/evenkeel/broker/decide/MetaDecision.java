package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Reply;
import java.util.ArrayList;
import java.util.List;

/**
 * What decides about a command of the meta log group may look at.
 *
 * @param term of the entry
 * @param nowMillis time of the entry
 * @param level the feature level of the log group
 */
public record MetaDecision(MetaTables tables, long term, long nowMillis, int level) {
  private static final DeciderRows<MetaDecision, MetaCommand, MetaChange> ROWS =
      new DeciderRows<MetaDecision, MetaCommand, MetaChange>()
          .on(MetaCommand.CreateTopic.class, (by, c) -> by.topics().create(c, by.nowMillis))
          .on(MetaCommand.ActivateTopic.class, (by, c) -> by.topics().activate(c))
          .on(MetaCommand.ConfigureTopic.class, (by, c) -> by.topics().configure(c))
          .on(MetaCommand.DeleteTopic.class, (by, c) -> by.topics().delete(c, by.level))
          .on(MetaCommand.RemoveTopic.class, (by, c) -> by.topics().remove(c, by.level))
          .on(MetaCommand.ReshardTopic.class, (by, c) -> by.topics().reshard(c))
          .on(MetaCommand.OpenLayout.class, (by, c) -> by.topics().open(c, by.nowMillis))
          .on(MetaCommand.ForgetLayout.class, (by, c) -> by.topics().forget(c, by.level))
          .on(MetaCommand.DeclareGroup.class, (by, c) -> by.groups().declare(c, by.nowMillis))
          .on(MetaCommand.SeeGroup.class, (by, c) -> by.groups().see(c))
          .on(MetaCommand.ForgetGroup.class, (by, c) -> by.groups().forget(c))
          .on(MetaCommand.ForgetTopic.class, (by, c) -> by.groups().forget(c))
          .on(MetaCommand.ForgetPattern.class, (by, c) -> by.groups().forget(c))
          .on(MetaCommand.GrantGroupLease.class, (by, c) -> by.groups().grant(c, by.term))
          .on(MetaCommand.ReleaseGroupLease.class, (by, c) -> by.groups().release(c))
          .on(MetaCommand.PauseGroup.class, (by, c) -> new PauseDecider(by.tables).pause(c))
          .on(
              MetaCommand.RecordMoves.class,
              (by, c) -> new MoveDecider(by.tables.moves()).record(c))
          .on(MetaCommand.AddActiveTime.class, (by, c) -> by.cluster().passed(c))
          .on(MetaCommand.RegisterProducer.class, (by, c) -> by.cluster().register(c))
          .on(MetaCommand.ContinueProducer.class, (by, c) -> by.cluster().next(c))
          .on(MetaCommand.RaiseFeatureLevel.class, (by, c) -> by.cluster().raise(c))
          .on(MetaCommand.PutNodes.class, (by, c) -> by.cluster().put(c))
          .on(MetaCommand.RemoveNode.class, (by, c) -> by.cluster().remove(c))
          .on(
              MetaCommand.PlaceLogGroup.class,
              (by, c) -> Decision.of(List.of(MetaChange.putPlace(c.group(), c.nodes()))))
          .on(MetaCommand.AddLogGroup.class, (by, c) -> by.cluster().add(c))
          .on(MetaCommand.OpenLogGroup.class, (by, c) -> by.cluster().open(c))
          .on(MetaCommand.SetQuota.class, (by, c) -> by.cluster().set(c))
          .on(MetaCommand.ChangeUser.class, (by, c) -> new UserDecider(by.tables).change(c))
          .on(MetaCommand.TendProducers.class, (by, c) -> by.cluster().tend(c))
          .on(MetaCommand.ByUser.class, (by, c) -> by.ofUser(c))
          .completeFor(MetaCommand.class);

  public Decision<MetaChange> of(MetaCommand command) {
    return ROWS.decide(this, command);
  }

  /** What the command makes belongs to the user. */
  private Decision<MetaChange> ofUser(MetaCommand.ByUser by) {
    String user = by.checkUser();
    SharedTable.Row row = SharedTable.madeBy(by.command(), tables);
    Decision<MetaChange> decision = of(by.command());
    if (row == null || row.isIn(tables) || decision.reply() instanceof Reply.Refused) {
      return decision;
    }
    List<MetaChange> changes = new ArrayList<>(decision.changes());
    changes.add(MetaChange.putOwner(row, user));
    return new Decision<>(changes, decision.reply());
  }

  private TopicDecider topics() {
    return new TopicDecider(tables);
  }

  private GroupDecider groups() {
    return new GroupDecider(tables);
  }

  private ClusterDecider cluster() {
    return new ClusterDecider(tables, level);
  }
}
