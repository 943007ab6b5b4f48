/** What is scarce on a node, and who holds how much of it. */
@NullMarked
package dev.evenkeel.bus.share;

import org.jspecify.annotations.NullMarked;
