package dev.evenkeel.bus;

import dev.evenkeel.protocol.ClusterNode;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * What this node sees of its cluster. While the node runs, {@link LocalObjects} holds one. Safe for
 * use from any thread.
 *
 * @param members how many nodes are members now, this one included
 * @param nodes the nodes as recorded; empty as long as none has joined or left
 */
public record ClusterInSight(IntSupplier members, Supplier<List<ClusterNode>> nodes) {}
