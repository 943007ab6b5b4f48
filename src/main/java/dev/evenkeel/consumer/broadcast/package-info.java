/**
 * What a consumer in mode broadcast knows of its own offsets, and the bytes that it keeps them in.
 * No files and no clock here: those are next door, in {@code files}.
 */
package dev.evenkeel.consumer.broadcast;
