/**
 * What everything that keeps files shares: writes that survive a crash of the machine, and locks.
 *
 * <p>Begin with {@link dev.evenkeel.protocol.files.DurableFiles}. All methods block.
 */
package dev.evenkeel.protocol.files;
