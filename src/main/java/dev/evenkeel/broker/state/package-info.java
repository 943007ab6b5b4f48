/**
 * What a broker remembers: its records, their keys on disk, and the tables held in memory.
 *
 * <p>Pure: no clock, no files, no Vert.x. It imports {@code model}, {@code wire} and the port of
 * the store.
 */
package dev.evenkeel.broker.state;
