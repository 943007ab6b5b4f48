/** The directory in which a consumer in mode broadcast keeps its offsets. */
package dev.evenkeel.client.internal.broadcast.files;
