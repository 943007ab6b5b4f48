package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import java.util.Set;

/** Says which addresses of the event bus a session may use. Safe for use from any thread. */
final class SessionAddresses {
  private static final String NODE = "evenkeel.node.";
  private static final String MEMBER = "evenkeel.member.";
  private static final String LEVEL = ".level";

  private static final Set<String> API =
      Set.of(
          Addresses.API_PRODUCE,
          Addresses.API_TOPICS,
          Addresses.API_MESSAGES,
          Addresses.API_GROUPS,
          Addresses.API_CLUSTER);

  /** The addresses of all listeners: the node listens once for all sessions. */
  static final Set<String> SHARED = Set.of(Addresses.LEADER_CHANGES, Addresses.TOPIC_CHANGES);

  private final String node;

  /**
   * @param node id of this node
   */
  SessionAddresses(String node) {
    this.node = node;
  }

  /** Who answers a request. */
  enum Answerer {
    /** This node. */
    HERE,
    /** The gateway of this node, whose failures have the form of {@code ApiErrors}. */
    GATEWAY,
    /** Another node. */
    ELSEWHERE
  }

  /**
   * Who answers a request of a session.
   *
   * @throws RefusedException INVALID if a session may not send it
   */
  Answerer answerer(String address, Buffer body) {
    if (address.startsWith(NODE)) {
      return ofNode(address, body);
    }
    if (API.contains(address)) {
      return Answerer.GATEWAY;
    }
    if (address.equals(Addresses.VIEW)
        || address.equals(Addresses.DEDUP_STEPS)
        || address.equals(Addresses.DEDUP_TELL)) {
      return Answerer.HERE;
    }
    throw noAddress(address);
  }

  private Answerer ofNode(String address, Buffer body) {
    int dot = address.lastIndexOf('.');
    if (dot <= NODE.length()) {
      throw noAddress(address);
    }
    switch (address.substring(dot + 1)) {
      case "control" -> checkOp(body);
      case "data", "dispatcher", "dealer", "groups" -> {}
      default -> throw noAddress(address);
    }
    boolean here = dot - NODE.length() == node.length() && address.startsWith(node, NODE.length());
    return here ? Answerer.HERE : Answerer.ELSEWHERE;
  }

  private static void checkOp(Buffer body) {
    Op op = body.length() < 2 ? null : Op.ofCode(body.getUnsignedByte(1));
    if (op != null && op.betweenNodes()) {
      throw Refusal.INVALID.error("the operation %s is for nodes only", op);
    }
  }

  private static RefusedException noAddress(String address) {
    return Refusal.INVALID.error("a session cannot send requests to '%s'", address);
  }

  /**
   * Checks that a session may listen at an address.
   *
   * @param session id of the session
   * @throws RefusedException INVALID
   */
  static void checkListening(String address, String session) {
    boolean allowed =
        SHARED.contains(address)
            || address.equals(Addresses.dedup(session))
            || address.startsWith(MEMBER) && isInstance(address);
    if (!allowed) {
      throw Refusal.INVALID.error("the session %s cannot listen at '%s'", session, address);
    }
  }

  private static boolean isInstance(String address) {
    int end = address.endsWith(LEVEL) ? address.length() - LEVEL.length() : address.length();
    for (int i = MEMBER.length(); i < end; i++) {
      char c = address.charAt(i);
      boolean plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
      if (!plain && c != '_' && c != '-') {
        return false;
      }
    }
    return end > MEMBER.length();
  }
}
