package dev.evenkeel.cluster;

import dev.evenkeel.protocol.HostPort;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/** This JVM as a member of the cluster, with its clustered Vert.x and the shared maps. */
public interface ClusterMember extends SharedMaps {
  /** The clustered Vert.x. */
  Vertx vertx();

  /** Unique id of this member; another one after each join. */
  String id();

  /** Ids of all members now, lite ones included. */
  Set<String> members();

  /** Name of the node whose member has this id; null if there is none, or it has no name. */
  default String nodeOf(String member) {
    return null;
  }

  /** Names of the nodes that are members now; null if a node does not say its name. */
  default Set<String> nodes() {
    return null;
  }

  /** How many members hold data: the nodes, without the clients. */
  int dataMembers();

  /**
   * Says how many nodes vote on the logs of the cluster, this one included. Only such nodes count
   * when a process asks for a majority.
   */
  default void voters(IntSupplier voters) {}

  /** Notes where another node is, so that this one finds it after they were apart. */
  default void know(HostPort node) {}

  /** Adds a handler that runs, on any thread, whenever a member joins or leaves. */
  void onChange(Consumer<Change> handler);

  /** Removes a handler that {@link #onChange} added. It may run once more. */
  void offChange(Consumer<Change> handler);

  /** The dedup automata of all members. This member's claims carry its id. */
  ClusterAutomata dedup();

  /**
   * Completes with the reason when this member was ended because the cluster could not go on with
   * it. Its program should close it and join again. Only nodes find this out.
   */
  default Future<String> unfit() {
    return Promise.<String>promise().future();
  }

  /** Leaves the cluster and closes the clustered Vert.x, if it was made here. */
  Future<Void> close();

  /**
   * @param member id of the member
   * @param left whether it left; otherwise it joined
   * @param dataMembers how many data members there are now
   */
  record Change(String member, boolean left, int dataMembers) {}
}
