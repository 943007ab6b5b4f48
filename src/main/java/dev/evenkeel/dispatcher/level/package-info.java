/**
 * The level dispatchers of groups in mode level. Each is a consumer that owns all shards of its
 * group and hands the messages to the members.
 *
 * <p>Begin with {@code LevelDispatcher}. The decisions are in {@code dispatcher.level.core}.
 */
package dev.evenkeel.dispatcher.level;
