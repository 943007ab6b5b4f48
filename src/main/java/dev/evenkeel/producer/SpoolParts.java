package dev.evenkeel.producer;

import dev.evenkeel.producer.spool.SpoolIntake;
import dev.evenkeel.producer.spool.SpoolSettings;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;

/**
 * What a {@link SpooledProducer} needs beside its options.
 *
 * @param run its own
 * @param messagesBeforeSource how many there had been in the spool when its source was begun
 */
record SpoolParts(
    ContextInternal context,
    SpoolDisk disk,
    SpoolSettings settings,
    SpoolWindow window,
    SpoolIntake<Promise<Producer.Position>> intake,
    int run,
    long messagesBeforeSource,
    SpoolingProducer.Opened opened) {}
