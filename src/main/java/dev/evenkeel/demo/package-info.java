/**
 * {@code evenkeel demo}: a node, a stream of orders, and consumers that come and go, with a line
 * for each event.
 *
 * <p>Begin with {@code DemoRun}. {@code DemoScript} decides what happens next, and {@code
 * DemoStory} words it.
 */
package dev.evenkeel.demo;
