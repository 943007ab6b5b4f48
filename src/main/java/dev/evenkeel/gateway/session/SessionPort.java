package dev.evenkeel.gateway.session;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;

/**
 * What all connections of a client port share. Safe for use from any thread.
 *
 * @param node id of this node
 * @param welcome the body of WELCOME
 */
record SessionPort(
    Vertx vertx,
    String node,
    String clusterName,
    Buffer welcome,
    SessionLimits limits,
    SessionAddresses addresses,
    Sessions sessions,
    SessionMeters meters) {}
