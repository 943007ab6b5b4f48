/**
 * The command line: commands, options, configuration, and what is printed.
 *
 * <p>The only place that prints, reads the command line or ends the process. It may import
 * everything; nothing imports it.
 */
package dev.evenkeel.cli;
