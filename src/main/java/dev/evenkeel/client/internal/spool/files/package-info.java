/**
 * The files of a spool: a directory of segments, and its lock. Its methods block, so they must not
 * run on an event loop.
 */
package dev.evenkeel.client.internal.spool.files;
