/**
 * What one node keeps: its log groups, their states on disk, its clock in the cluster, and the
 * guards over its disk.
 *
 * <p>Begin with {@link dev.evenkeel.broker.node.BrokerNode}. {@code StorageMaintenance} keeps files
 * in order: {@code BodyCleaner} frees space, {@code Scrub} looks for damage, and {@code BodyMender}
 * mends it.
 */
package dev.evenkeel.broker.node;
