/** What a broker remembers: its records, their keys on disk, and the tables held in memory. */
package dev.evenkeel.broker.state;
