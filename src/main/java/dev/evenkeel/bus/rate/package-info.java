/**
 * What a program that spends a quota says to the coordinator of rates, what it does while it hears
 * no answer, and what a client makes of refusals. The coordinator is the node that leads the meta
 * log group.
 */
package dev.evenkeel.bus.rate;
