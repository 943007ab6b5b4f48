/**
 * The operations of Evenkeel's API: for each one a record with its question, a record with its
 * answer, and a row that says where it is asked, over HTTP too, and who may ask it.
 *
 * <p>Begin with {@link dev.evenkeel.api.Operations}. {@link dev.evenkeel.api.RecordJson} is the
 * form of the records in JSON.
 */
@NullMarked
package dev.evenkeel.api;

import org.jspecify.annotations.NullMarked;
