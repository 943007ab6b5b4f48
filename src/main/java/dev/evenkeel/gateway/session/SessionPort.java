package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.frame.Welcome;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.gateway.ServerTls;
import dev.evenkeel.gateway.Strangers;
import dev.evenkeel.gateway.access.Access;
import io.vertx.core.Vertx;
import java.util.function.Supplier;

/**
 * What all connections of a client port share. Safe for use from any thread.
 *
 * @param node id of this node
 * @param welcome what clients get now, without the name of their user
 * @param strangers connections that have not said HELLO
 * @param listening addresses at which connections listen
 * @param tls null: connections are not encrypted
 * @param spans null: this node makes no spans
 */
record SessionPort(
    Vertx vertx,
    String node,
    String clusterName,
    Supplier<Welcome> welcome,
    SessionOptions limits,
    SessionAddresses addresses,
    Sessions sessions,
    Strangers<SessionConnection> strangers,
    FairShare listening,
    SessionMeters meters,
    ServerTls tls,
    Access access,
    RequestSpans spans) {}
