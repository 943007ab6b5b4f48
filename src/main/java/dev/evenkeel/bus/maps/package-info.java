/**
 * The entries of the shared maps. They are a contract: other programs read and watch them as JSON.
 * Fields may be added to an entry, and none is removed or gets another meaning.
 */
@NullMarked
package dev.evenkeel.bus.maps;

import org.jspecify.annotations.NullMarked;
