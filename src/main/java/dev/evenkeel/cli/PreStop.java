package dev.evenkeel.cli;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.ClusterStatusView.Follower;
import dev.evenkeel.api.ClusterStatusView.Log;
import dev.evenkeel.api.ClusterStatusView.Node;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.internal.session.Credentials;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What must be so before a node is stopped. */
final class PreStop {
  /** A copy that is further behind does not count. */
  static final long LAG_ENTRIES_MAX = 10_000;

  private static final Pattern ORDINAL = Pattern.compile(".*-(\\d{1,9})");

  private PreStop() {}

  /**
   * Which log groups would lose their majority if the node stopped now: one line for each. A log
   * group with one or two copies always would, and does not count: to wait does not help.
   */
  static List<String> obstacles(ClusterStatusView cluster, String node) {
    Set<String> alive = new TreeSet<>();
    Set<String> all = new TreeSet<>();
    for (Node each : cluster.nodes()) {
      all.add(each.node());
      if (Boolean.TRUE.equals(each.alive())) {
        alive.add(each.node());
      }
    }
    List<String> obstacles = new ArrayList<>();
    for (Log log : cluster.logs()) {
      boolean known = log.place() != null && log.place().voters() != null;
      Set<String> voters = known ? new TreeSet<>(log.place().voters()) : all;
      if (voters.contains(node) && voters.size() > 2) {
        Set<String> rest = current(log, voters);
        rest.retainAll(alive);
        rest.remove(node);
        int needed = voters.size() / 2 + 1;
        if (rest.size() < needed) {
          obstacles.add(
              "%s needs %s of %s copies, and without %s only %s would be there: %s"
                  .formatted(
                      log.group(),
                      needed,
                      voters.size(),
                      node,
                      rest.size(),
                      rest.isEmpty() ? "none" : String.join(", ", rest)));
        }
      }
    }
    return obstacles;
  }

  /** Those whose copies are, as far as the leader knows, not far behind. */
  private static Set<String> current(Log log, Set<String> voters) {
    Set<String> current = new TreeSet<>();
    if (log.leader() == null) {
      return current;
    }
    current.add(log.leader());
    for (Follower each : log.followers()) {
      if (each.lagEntries() != null && each.lagEntries() <= LAG_ENTRIES_MAX) {
        current.add(each.node());
      }
    }
    current.retainAll(voters);
    return current;
  }

  /** Why Kubernetes stops a pod. */
  enum Reason {
    /** It starts the pod again, as in a rolling update. */
    COMES_BACK,
    /** The StatefulSet has fewer replicas now, and this pod is none of them. */
    IS_LEFT_OUT,
    /** The StatefulSet has no replicas: the cluster stops as a whole, and keeps its nodes. */
    ALL_STOP
  }

  /**
   * Why the pod of a StatefulSet stops, by its ordinal and the number of replicas.
   *
   * @param set the object, as the API of Kubernetes has it
   * @throws CommandFailure if the name of the pod has no ordinal, or the object has no replicas
   */
  static Reason reason(JsonObject set, String pod) {
    Matcher ordinal = ORDINAL.matcher(pod);
    CommandFailure.refuseIf(
        !ordinal.matches(),
        "'" + pod + "' is no pod of a StatefulSet: its name would end with a number");
    JsonObject spec = set.getJsonObject("spec", new JsonObject());
    Integer replicas = spec.getInteger("replicas");
    if (replicas == null) {
      throw CommandFailure.failed("Kubernetes does not say how many replicas there should be");
    }
    JsonObject ordinals = spec.getJsonObject("ordinals", new JsonObject());
    int first = ordinals.getInteger("start", 0);
    boolean kept = Integer.parseInt(ordinal.group(1)) < first + replicas;
    return replicas == 0 ? Reason.ALL_STOP : kept ? Reason.COMES_BACK : Reason.IS_LEFT_OUT;
  }

  /**
   * Asks Kubernetes for a StatefulSet.
   *
   * @param name {@code NAMESPACE/NAME}
   */
  static JsonObject statefulSet(String url, Path account, String name) {
    String[] words = name.split("/");
    CommandFailure.refuseIf(
        words.length != 2, "--stateful-set '" + name + "': write NAMESPACE/NAME");
    try {
      Path ca = account.resolve("ca.crt");
      Credentials trusted =
          Files.exists(ca)
              ? Credentials.of(new ClientOptions().setCa(ca.toString()))
              : Credentials.NONE;
      String token = Files.readString(account.resolve("token")).strip();
      return new HttpApi(url, trusted, token)
          .get(
              "/apis/apps/v1/namespaces/"
                  + HttpApi.segment(words[0])
                  + "/statefulsets/"
                  + HttpApi.segment(words[1]));
    } catch (IOException e) {
      throw CommandFailure.failed(
          account + " has no token of a service account of Kubernetes: " + e, e);
    } catch (RefusedException e) {
      throw CommandFailure.failed(e.words(), e);
    }
  }
}
