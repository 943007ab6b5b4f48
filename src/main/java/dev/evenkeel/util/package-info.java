/** Clocks, pauses and other small tools that know nothing of Evenkeel. */
package dev.evenkeel.util;
