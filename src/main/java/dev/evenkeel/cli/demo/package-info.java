/**
 * What the demo shows and tells, apart from the processes that it runs: who comes and goes next,
 * which keys are sent, what a consumer counts, and how an event is told. The processes and the
 * terminal are {@code dev.evenkeel.cli}'s.
 */
package dev.evenkeel.cli.demo;
