/**
 * Settings, each declared in one row: its key, its option of commands, its type, default, bounds
 * and help. JSON, files, variables, commands and tables of the documentation read the rows.
 */
@NullMarked
package dev.evenkeel.settings;

import org.jspecify.annotations.NullMarked;
