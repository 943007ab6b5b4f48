/** The files of a spool: a directory of segments, and its lock. Blocks: never on an event loop. */
package dev.evenkeel.producer.spool.files;
