package dev.evenkeel.cluster;

import dev.evenkeel.dedup.SharedAutomata;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** This JVM's place in the cluster: a clustered Vert.x and the shared maps. */
public interface ClusterMember {
  /** The clustered Vert.x. */
  Vertx vertx();

  /** Unique id of this member; another one after each join. */
  String id();

  /** Ids of all members now, lite ones included. */
  Set<String> members();

  /** How many members hold data, that is, are nodes and not clients. */
  int dataMembers();

  /** Where the nodes that this member sees listen. */
  default List<HostPort> dataAddresses() {
    return List.of();
  }

  /** Called, on any thread, whenever a member came or went. */
  void onChange(Consumer<Change> handler);

  /** Who consumes: "group/member" → JSON. Written by the dispatcher. */
  SharedTable registry();

  /** Who owns what, as everybody may see it: "group/topic/shard" → JSON. */
  SharedTable ownership();

  /** Automata of keys in flight, under this member's id. */
  SharedAutomata dedup();

  /**
   * Completes, with what is wrong, when the cluster can only go on without this member: it has been
   * ended, and its program should close it and join afresh. Only a node's member finds that out.
   */
  default Future<String> unfit() {
    return Promise.<String>promise().future();
  }

  /** Leaves the cluster and closes the clustered Vert.x, if it was made here. */
  Future<Void> close();

  /**
   * @param member id of who came or went
   * @param left whether it went
   * @param dataMembers how many data members there are now
   */
  record Change(String member, boolean left, int dataMembers) {}
}
