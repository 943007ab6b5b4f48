/**
 * The command line: commands, options, configuration and output, and the run of a node. Only this
 * package reads the command line or ends the process.
 *
 * <p>Begin with {@link dev.evenkeel.cli.Main}; {@code ServeRun} starts a node. {@code bench} and
 * {@code demo} add their commands through {@link dev.evenkeel.cli.Subcommands}.
 */
package dev.evenkeel.cli;
