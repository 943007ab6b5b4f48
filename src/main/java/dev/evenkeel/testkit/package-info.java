/**
 * Nodes, waits, faults and a clock for the tests of applications: begin with {@link
 * dev.evenkeel.testkit.EvenkeelExtension}.
 */
package dev.evenkeel.testkit;
