package dev.evenkeel.storage;

/** Keys from {@code from} (inclusive) to {@code to} (exclusive) that a committed write deleted. */
record DeletedRange(Store.Table table, byte[] from, byte[] to) {}
