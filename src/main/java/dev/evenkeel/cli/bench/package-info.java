/**
 * {@code evenkeel bench}: what a cluster carries and how long it takes, told as a table and as one
 * line of JSON.
 *
 * <p>{@code BenchCommand} has the commands. The loads ({@code ProduceLoad}, {@code ConsumeLoad},
 * {@code LatencyLoad}) know a system only as a {@code Target}, so that another system can be put
 * under the very same load.
 */
package dev.evenkeel.cli.bench;
