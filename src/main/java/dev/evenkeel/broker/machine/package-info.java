/**
 * The replicated state machines: log entries come in, changes of the store and replies go out.
 * Every node applies the same entries with the same result, so no clock is read here.
 *
 * <p>Begin with {@code StoredState}; {@code DataState} and {@code MetaState} are its two kinds.
 * {@code BodyUse} tells which bodies of entries the state needs.
 */
package dev.evenkeel.broker.machine;
