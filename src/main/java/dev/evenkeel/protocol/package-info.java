/**
 * The values that all parts share: ids, records, commands, replies, refusals and limits. All of
 * them are immutable, and depend on the JDK only, but for two classes that compress batches.
 *
 * <p>Begin with {@link dev.evenkeel.protocol.DataCommand} and {@link
 * dev.evenkeel.protocol.MetaCommand}: they are everything that can change the state of a cluster.
 *
 * <p>Of these, only {@code Message}, {@code Compression}, {@code StartAt}, {@code
 * RefusedException}, {@code Refusal} and {@code Limits} are API for applications: the client's
 * methods name them. The others change without notice.
 */
@NullMarked
package dev.evenkeel.protocol;

import org.jspecify.annotations.NullMarked;
