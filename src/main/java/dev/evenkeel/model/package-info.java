/**
 * The words of the whole project: ids, records, commands, replies, refusals and limits.
 *
 * <p>Everything here is an immutable value. It imports the JDK only, and everybody may import it.
 */
package dev.evenkeel.model;
