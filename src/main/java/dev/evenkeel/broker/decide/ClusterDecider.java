package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.PRODUCER_FENCED;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_PRODUCER;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.NamedProducer;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.protocol.AddedLogGroup;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.VoterId;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides about numbers that only grow in a cluster: ids and epochs of producers, active time, and
 * the feature level. Also about nodes, data log groups and quotas.
 *
 * @param level the feature level of the log group
 */
public record ClusterDecider(MetaTables tables, int level) {
  /**
   * The cluster forgets the name of a producer after nobody has used it for 7 days. Only time in
   * which a dispatcher was active counts.
   */
  public static final long NAME_FORGET_MILLIS = 7L * 24 * 3600 * 1000;

  /** Most nodes of a cluster. */
  public static final int NODES_MAX = 1_000;

  /** Gives a producer its id and epoch. */
  public Decision<MetaChange> register(MetaCommand.RegisterProducer command) {
    MetaTables.Counters counters = tables.counters();
    long id = counters.nextProducerId();
    MetaChange counted = MetaChange.putCounters(counters.afterProducer());
    if (command.isUnnamed()) {
      return new Decision<>(List.of(counted), new Reply.OfProducer(id, 0));
    }
    String name = Names.check("producer", command.name());
    NamedProducer known = tables.producer(name);
    if (known != null) {
      return put(known.next(false, counters.activeMillis()));
    }
    int max = SharedTable.PRODUCERS.max();
    if (tables.namedProducers() >= max) {
      return Decision.refused(
          TOO_LARGE, "there are " + max + " named producers; use an existing name, or none");
    }
    long named = ProducerIds.ofName(name);
    if (level < FeatureLevel.FORGOTTEN_NAMES || tables.producerName(named) != null) {
      return new Decision<>(
          List.of(MetaChange.putProducer(new NamedProducer(name, id, 0, false, 0)), counted),
          new Reply.OfProducer(id, 0));
    }
    // It may have been forgotten, and somebody may still have an earlier epoch.
    int epoch = (int) counters.producerEpochNext();
    return put(new NamedProducer(name, named, epoch, false, 0).usedAt(counters.activeMillis()));
  }

  /**
   * Forgets names that nobody has used for long and no data log group remembers. If a name comes
   * back, it has its id again, and an epoch above all that it ever had: whoever has an earlier one
   * is fenced as if the name had stayed.
   */
  public Decision<MetaChange> tend(MetaCommand.TendProducers command) {
    MetaTables.Counters counters = tables.counters();
    long activeMillis = counters.activeMillis();
    List<MetaChange> changes = new ArrayList<>();
    for (String name : command.used()) {
      NamedProducer known = tables.producer(name);
      if (known != null && !known.usedAt(activeMillis).equals(known)) {
        changes.add(MetaChange.putProducer(known.usedAt(activeMillis)));
      }
    }
    for (String name : command.unused()) {
      NamedProducer known = tables.producer(name);
      if (known != null
          && !command.used().contains(name)
          && known.isUnused(activeMillis, NAME_FORGET_MILLIS)) {
        changes.addAll(tables.owners().removal(new SharedTable.Row(SharedTable.PRODUCERS, name)));
        changes.add(MetaChange.removeProducer(name));
        counters = counters.aboveProducerEpoch(known.epoch());
      }
    }
    if (!counters.equals(tables.counters())) {
      changes.add(MetaChange.putCounters(counters));
    }
    return Decision.of(changes);
  }

  /** Gives a named producer its next epoch, unless another has taken the name. */
  public Decision<MetaChange> next(MetaCommand.ContinueProducer command) {
    NamedProducer known = tables.producer(Names.check("producer", command.name()));
    if (known == null) {
      return Decision.refused(UNKNOWN_PRODUCER, "there is no producer '" + command.name() + "'");
    }
    if (known.epoch() == command.epoch()) {
      return put(known.next(true, tables.counters().activeMillis()));
    }
    return known.continued() && known.epoch() - 1 == command.epoch()
        ? new Decision<>(List.of(), new Reply.OfProducer(known.id(), known.epoch()))
        : Decision.refused(
            PRODUCER_FENCED,
            "producer '%s' was registered again and is at epoch %s, not %s",
            command.name(),
            known.epoch(),
            command.epoch());
  }

  private static Decision<MetaChange> put(NamedProducer next) {
    return new Decision<>(
        List.of(MetaChange.putProducer(next)), new Reply.OfProducer(next.id(), next.epoch()));
  }

  public Decision<MetaChange> passed(MetaCommand.AddActiveTime command) {
    long step = Math.max(0, Math.min(command.millis(), Limits.ACTIVE_STEP_MILLIS_MAX));
    MetaTables.Counters next = tables.counters().afterActive(step);
    return new Decision<>(
        List.of(MetaChange.putCounters(next)), new Reply.OfNumber(next.activeMillis()));
  }

  /** Adds or replaces nodes. */
  public Decision<MetaChange> put(MetaCommand.PutNodes command) {
    long added =
        command.nodes().stream().filter(node -> tables.node(node.id()) == null).distinct().count();
    return added > 0 && tables.nodes().size() + added > NODES_MAX
        ? Decision.refused(TOO_LARGE, "there would be more than " + NODES_MAX + " nodes")
        : Decision.of(
            command.nodes().stream()
                .filter(node -> !node.equals(tables.node(node.id())))
                .map(MetaChange::putNode)
                .toList());
  }

  /** Takes a node out. */
  public Decision<MetaChange> remove(MetaCommand.RemoveNode command) {
    if (tables.node(command.id()) == null) {
      return Decision.of(List.of());
    }
    for (AddedLogGroup added : tables.addedGroups()) {
      if (!added.open()
          && added.founders().stream().map(VoterId::node).anyMatch(command.id()::equals)) {
        return Decision.refused(
            UNAVAILABLE, "node %s is about to open data group %s", command.id(), added.index());
      }
    }
    return Decision.of(List.of(MetaChange.removeNode(command.id())));
  }

  /**
   * Adds a data log group, whose founders are to vote in it until another placement is recorded.
   */
  public Decision<MetaChange> add(MetaCommand.AddLogGroup command) {
    command.check();
    int next = command.index();
    for (AddedLogGroup known : tables.addedGroups()) {
      if (known.index() == command.index()) {
        return Decision.of(List.of());
      }
      next = known.index() + 1;
    }
    return command.index() == next
        ? Decision.of(
            List.of(
                MetaChange.putAddedGroup(command.added()),
                MetaChange.putPlace(
                    ShardGroups.name(command.index()),
                    command.founders().stream().map(VoterId::node).sorted().toList())))
        : Decision.refused(
            INVALID, "data group %s cannot be added: the next is %s", command.index(), next);
  }

  /** An added data log group works. */
  public Decision<MetaChange> open(MetaCommand.OpenLogGroup command) {
    for (AddedLogGroup known : tables.addedGroups()) {
      if (known.index() == command.index()) {
        return Decision.of(
            known.open() ? List.of() : List.of(MetaChange.putAddedGroup(known.opened())));
      }
      if (!known.open()) {
        return Decision.refused(
            INVALID, "data group %s opens after group %s", command.index(), known.index());
      }
    }
    return Decision.refused(INVALID, "no data group %s was added", command.index());
  }

  /** Sets or removes a quota. */
  public Decision<MetaChange> set(MetaCommand.SetQuota command) {
    command.check();
    Quota quota = command.quota();
    Quota known = tables.quota(quota.kind(), quota.name());
    if (quota.isNone()) {
      return known == null ? Decision.of(List.of()) : clear(quota.key());
    }
    GroupInfo group = quota.kind() == QuotaKind.GROUP_RATE ? tables.group(quota.name()) : null;
    if (group != null && group.policy().isLevel()) {
      return Decision.refused(
          INVALID,
          "group '%s' is in mode level: only the other modes have a group rate; limit what it"
              + " fetches with kind group",
          quota.name());
    }
    if (known == null && tables.quotaCount() >= Quota.QUOTAS_MAX) {
      return Decision.refused(
          TOO_LARGE, "there are " + Quota.QUOTAS_MAX + " quotas: clear one that is not needed");
    }
    return Decision.of(quota.equals(known) ? List.of() : List.of(MetaChange.putQuota(quota)));
  }

  private Decision<MetaChange> clear(Quota.Key quota) {
    List<MetaChange> changes = new ArrayList<>(tables.owners().removal(SharedTable.row(quota)));
    changes.add(MetaChange.removeQuota(quota));
    return Decision.of(changes);
  }

  /** Raises the feature level. It never goes down: the log has such entries. */
  public Decision<MetaChange> raise(MetaCommand.RaiseFeatureLevel command) {
    return command.level() <= tables.featureLevel()
        ? Decision.of(List.of())
        : Decision.of(List.of(MetaChange.putFeatureLevel(command.level())));
  }
}
