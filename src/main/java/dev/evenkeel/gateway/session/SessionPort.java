package dev.evenkeel.gateway.session;

import dev.evenkeel.gateway.ServerTls;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;

/**
 * What all connections of a client port share. Safe for use from any thread.
 *
 * @param node id of this node
 * @param welcome the body of WELCOME
 * @param tls null: connections are not encrypted
 */
record SessionPort(
    Vertx vertx,
    String node,
    String clusterName,
    Buffer welcome,
    SessionLimits limits,
    SessionAddresses addresses,
    Sessions sessions,
    SessionMeters meters,
    ServerTls tls) {}
