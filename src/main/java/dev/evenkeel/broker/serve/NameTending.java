package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.decide.ClusterDecider;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.NamedProducer;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * On the leader of meta: forgets names of producers that nobody has opened for long, once no data
 * log group remembers them. Names that one remembers count as used. Runs on one context.
 */
final class NameTending {
  private static final Logger LOG = LoggerFactory.getLogger(NameTending.class);

  /** At one of so many looks, there is something to do at most: about every minute. */
  private static final int LOOKS = 30;

  private static final long ASK_MILLIS_MAX = 10_000;

  private final ServeContext serve;
  private final GroupCommands commands;
  private final LogGroup log;
  private int looks;
  private boolean underWay;

  NameTending(ServeContext serve, GroupCommands commands) {
    this.serve = serve;
    this.commands = commands;
    log = serve.node().log().meta();
  }

  /** To be called from time to time. */
  void look() {
    if (++looks % LOOKS != 0 || underWay || !log.leadership().ready()) {
      return;
    }
    MetaTables tables = serve.node().meta().tables();
    if (tables.featureLevel() < FeatureLevel.FORGOTTEN_NAMES) {
      return;
    }
    List<NamedProducer> old = old(tables);
    if (!old.isEmpty()) {
      underWay = true;
      remembered(old.stream().map(NamedProducer::id).toList())
          .compose(
              known ->
                  commands.append(
                      log, Entry.of(command(old, known::contains), serve.node().nowMillis())))
          .onFailure(e -> LOG.warn("names of producers are not forgotten yet: {}", e.toString()))
          .onComplete(done -> underWay = false);
    }
  }

  /** Names that are to be forgotten unless somebody uses them; some at a time, oldest first. */
  static List<NamedProducer> old(MetaTables tables) {
    long activeMillis = tables.counters().activeMillis();
    return tables.producers().stream()
        .filter(each -> each.isUnused(activeMillis, ClusterDecider.NAME_FORGET_MILLIS))
        .sorted(
            Comparator.comparingLong(NamedProducer::lastUsedMillis)
                .thenComparing(NamedProducer::name))
        .limit(Limits.PRODUCERS_A_COMMAND_MAX)
        .toList();
  }

  /**
   * @param remembered whether a data log group remembers an id
   */
  static MetaCommand command(List<NamedProducer> old, LongPredicate remembered) {
    List<String> used = new ArrayList<>();
    List<String> unused = new ArrayList<>();
    old.forEach(each -> (remembered.test(each.id()) ? used : unused).add(each.name()));
    return new MetaCommand.TendProducers(used, unused);
  }

  private Future<Set<Long>> remembered(List<Long> ids) {
    List<Future<List<Long>>> asked = new ArrayList<>();
    for (int group = 0; group < serve.openGroups(); group++) {
      asked.add(commands.producers(group, ids, ASK_MILLIS_MAX));
    }
    return Future.all(asked)
        .map(
            all -> {
              Set<Long> known = new HashSet<>();
              asked.forEach(each -> known.addAll(each.result()));
              return known;
            });
  }
}
