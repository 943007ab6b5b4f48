/**
 * The level dispatchers ("dealers") of groups in mode level: each is a consumer that owns all the
 * group's shards and hands the messages on to the members.
 */
package dev.evenkeel.dispatcher.level;
