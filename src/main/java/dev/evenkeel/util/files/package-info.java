/**
 * What everything that keeps files shares: writes that survive a crash of the machine, locks, and a
 * limit of bytes per second.
 *
 * <p>Begin with {@link dev.evenkeel.util.files.DurableFiles}. All methods block.
 */
package dev.evenkeel.util.files;
