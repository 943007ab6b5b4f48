/**
 * Level dispatch: no track more than a range ahead of another.
 *
 * <p>{@link dev.evenkeel.level.Coordinators} makes a {@link dev.evenkeel.level.Coordinator} for the
 * threads of one JVM; {@link dev.evenkeel.level.SecondLevelQueues} is the other way, a dispatcher
 * that deals into bounded queues; {@link dev.evenkeel.level.LevelBook} holds the counts of a group
 * across a cluster. It imports {@code model}, and of Vert.x its futures alone.
 */
package dev.evenkeel.level;
