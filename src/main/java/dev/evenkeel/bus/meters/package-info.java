/**
 * Metrics of a node: names, help texts and bounds in one place. Without a registry nothing is
 * measured.
 *
 * <p>It needs Micrometer on the class path, so only parts of a node use it. Begin with {@link
 * dev.evenkeel.bus.meters.Meters}.
 */
package dev.evenkeel.bus.meters;
