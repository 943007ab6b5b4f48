package dev.evenkeel.level;

/**
 * Since when a seat has been seen to hold others back and to do nothing.
 *
 * @param word the seat's word then
 * @param touches how often its owner had asked or been answered then
 * @param sinceNanos of the coordinator's clock
 */
record Hold(long word, int touches, long sinceNanos) {}
