/**
 * How the parts of a node make figures that others may look at: names, help and bounds in one
 * place, and nothing at all where no registry is given.
 *
 * <p>Needs Micrometer on the class path, which a client application does not: only a node's parts
 * use this package.
 */
package dev.evenkeel.bus.meters;
