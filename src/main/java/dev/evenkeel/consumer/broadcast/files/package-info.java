/** The directory in which a consumer in mode broadcast keeps its offsets. */
package dev.evenkeel.consumer.broadcast.files;
