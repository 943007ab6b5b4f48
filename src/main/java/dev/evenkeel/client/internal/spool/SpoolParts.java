package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.internal.spool.log.SpoolIntake;
import dev.evenkeel.client.internal.spool.log.SpoolSettings;
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
