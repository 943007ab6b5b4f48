/**
 * Consumers: members of a group that pull their shards, hand messages out, commit, and hand shards
 * over.
 *
 * <p>{@link dev.evenkeel.consumer.Consumers} starts one. The decisions are in ConsumerCore and what
 * it is made of (HoldMachine, Puller, Lanes, Window, FlowControl, SelfFence), which know no clock
 * and no I/O; ConsumerShell, ActionRunner, HeartbeatLoop and ShardCalls carry them out.
 */
package dev.evenkeel.consumer;
