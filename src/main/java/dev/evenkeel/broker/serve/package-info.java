/** Answers requests of the event bus from a broker's state; all of it runs on one context. */
package dev.evenkeel.broker.serve;
