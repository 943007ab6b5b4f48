/**
 * {@code evenkeel bench}: measures what a cluster carries and how long it takes, and prints a table
 * and one line of JSON.
 *
 * <p>Begin with {@code BenchCommand}. A load knows the system that it measures only as a {@code
 * Target}, so the same load can measure another system.
 */
package dev.evenkeel.bench;
