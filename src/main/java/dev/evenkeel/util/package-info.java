/**
 * Clocks, pauses and other small tools that know nothing of Evenkeel. {@code util.files} has those
 * for files, {@code util.tls} those for keys and certificates.
 */
package dev.evenkeel.util;
