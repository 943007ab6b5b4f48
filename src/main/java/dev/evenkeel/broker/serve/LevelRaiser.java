package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.machine.MetaState;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.buffer.Buffer;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * On the leader of meta: raises the {@link FeatureLevel} of the cluster when every node has said
 * that it reads a higher one. On the leader of a data log group: brings the group to the level of
 * the cluster, so that its entries have the outcomes of that level. Runs on one context.
 */
final class LevelRaiser {
  private static final Logger LOG = LoggerFactory.getLogger(LevelRaiser.class);

  private final ServeContext serve;
  private final LogGroup log;
  private final MetaState meta;

  /** Log groups with an entry on its way. */
  private final Set<String> underWay = ConcurrentHashMap.newKeySet();

  private String lastLogged = "";

  LevelRaiser(ServeContext serve) {
    this.serve = serve;
    log = serve.node().log().meta();
    meta = serve.node().meta();
  }

  /** Whether it needs to know the levels that the other nodes read. */
  boolean asks() {
    return log.leadership().ready() && FeatureLevel.reads() > meta.tables().featureLevel();
  }

  /** Raises the level if all nodes read a higher one; nodes that did not answer are missing. */
  void look(Map<String, NodeLogs> answers) {
    if (!asks()) {
      return;
    }
    int level = meta.tables().featureLevel();
    int all = FeatureLevel.reads();
    TreeSet<String> behind = new TreeSet<>();
    for (String node : serve.node().others()) {
      NodeLogs logs = answers.get(node);
      int reads = logs == null ? FeatureLevel.FIRST : logs.levels().read();
      all = Math.min(all, reads);
      if (reads <= level) {
        behind.add(node);
      }
    }
    if (all > level) {
      raise(all);
    } else if (!behind.toString().equals(lastLogged)) {
      lastLogged = behind.toString();
      LOG.info(
          "the cluster stays at feature level {} until these nodes say that they read more: {}",
          level,
          behind);
    }
  }

  private void raise(int level) {
    log.append(Entry.of(new MetaCommand.RaiseFeatureLevel(level), serve.node().nowMillis()))
        .whenComplete(
            (reply, failure) -> {
              if (failure == null) {
                LOG.info("the cluster is at feature level {}: every node reads it", level);
                // Those who know topics by a view know the level by it, too.
                serve.vertx().eventBus().publish(Addresses.TOPIC_CHANGES, Buffer.buffer());
              } else {
                LOG.info("the feature level is not raised yet: {}", failure.toString());
              }
            });
  }

  /** Brings the data log groups that this node leads to the level of the cluster. */
  void bringGroups() {
    int level = meta.tables().featureLevel();
    for (LogGroupServer group : serve.groups()) {
      String name = group.log().name();
      if (group.state().level() < level && group.log().leadership().ready() && underWay.add(name)) {
        group
            .log()
            .append(Entry.of(new DataCommand.RaiseFeatureLevel(level), serve.node().nowMillis()))
            .whenComplete(
                (reply, failure) -> {
                  underWay.remove(name);
                  if (failure != null) {
                    LOG.info(
                        "log group {} is not at feature level {} yet: {}",
                        name,
                        level,
                        failure.toString());
                  }
                });
      }
    }
  }
}
