/**
 * The algorithms of level dispatch: no consumer gets more than a range of steps ahead of another.
 *
 * <p>Begin with {@link dev.evenkeel.level.Coordinators}, which makes a {@link
 * dev.evenkeel.level.Coordinator} for the threads of one JVM. {@link
 * dev.evenkeel.level.SecondLevelQueues} distributes into bounded queues instead, and {@link
 * dev.evenkeel.level.LevelCounts} holds the counts of a group across a cluster.
 */
@NullMarked
package dev.evenkeel.level;

import org.jspecify.annotations.NullMarked;
