/**
 * What a broker remembers: its records, their keys on disk, and the tables in memory. It has no
 * clock, no files and no Vert.x.
 *
 * <p>Begin with {@code DataTables} and {@code MetaTables}.
 */
@NullMarked
package dev.evenkeel.broker.state;

import org.jspecify.annotations.NullMarked;
