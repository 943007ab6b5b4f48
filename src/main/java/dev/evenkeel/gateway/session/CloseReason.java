package dev.evenkeel.gateway.session;

/** Why a connection ended, as metrics name it. */
enum CloseReason {
  /** The client closed it, or it broke. */
  CLIENT,
  /** No HELLO in time. */
  HANDSHAKE,
  /** The HELLO does not fit this node, or a frame does not fit the protocol. */
  PROTOCOL,
  /** It belongs to no user, or to one that was removed. */
  UNAUTHENTICATED,
  /** A limit of the node. */
  LIMIT,
  /** No frame in time. */
  SILENT,
  /** The client does not read. */
  NOT_READING,
  /** The node stops. */
  STOPPING
}
