package dev.evenkeel.gateway.session;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Need;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.Permission.Kind;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.gateway.access.ApiRules;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.gateway.access.SessionRules;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Says which addresses of the event bus a session may use. Safe for use from any thread.
 *
 * @param node id of this node
 */
record SessionAddresses(String node, SessionRules rules) {
  private static final String NODE = "evenkeel.node.";
  private static final String MEMBER = "evenkeel.member.";
  private static final String LEVEL = ".level";

  /** Those whose questions do not say who asks: only the gateway of HTTP knows that. */
  private static final Set<String> API =
      Operations.all().stream()
          .filter(each -> each.address() != null)
          .collect(Collectors.groupingBy(each -> String.valueOf(each.address())))
          .entrySet()
          .stream()
          .filter(each -> each.getValue().stream().noneMatch(SessionAddresses::namesCaller))
          .map(Map.Entry::getKey)
          .collect(Collectors.toUnmodifiableSet());

  private static boolean namesCaller(Operation<?, ?> operation) {
    return RecordJson.of(operation.questionType()).caller() != null;
  }

  /** The addresses of all listeners: the node listens once for all sessions. */
  static final Set<String> SHARED = Set.of(Addresses.LEADER_CHANGES, Addresses.TOPIC_CHANGES);

  /** Who answers a request. */
  enum Answerer {
    /** This node. */
    HERE,
    /** Another node. */
    ELSEWHERE
  }

  /**
   * Who answers a request of a session.
   *
   * @throws RefusedException INVALID if there is no such address for sessions; FORBIDDEN if no
   *     session, or not this one, may send it; see {@link SessionRules}
   */
  Answerer answerer(Principal principal, String session, String address, Buffer body) {
    if (address.startsWith(NODE)) {
      return ofNode(principal, address, body);
    }
    if (API.contains(address)) {
      if (principal.bound()) {
        SessionRules.api(principal, address, body);
      }
      return Answerer.HERE;
    }
    switch (address) {
      case Addresses.VIEW -> {}
      case Addresses.DEDUP_STEPS, Addresses.DEDUP_TELL ->
          SessionRules.dedup(principal, session, body, address.equals(Addresses.DEDUP_STEPS));
      case Addresses.DEDUP_CLAIMS -> SessionRules.claims(principal, session, body);
      case Addresses.DEDUP_HEARD -> SessionRules.heard(principal, session, body);
      default -> throw noAddress(address);
    }
    return Answerer.HERE;
  }

  private Answerer ofNode(Principal principal, String address, Buffer body) {
    int dot = address.lastIndexOf('.');
    if (dot <= NODE.length()) {
      throw noAddress(address);
    }
    switch (address.substring(dot + 1)) {
      case "control" -> rules.broker(principal, true, body);
      case "data" -> rules.broker(principal, false, body);
      case "dispatcher" -> SessionRules.heartbeat(principal, body);
      case "dealer" -> SessionRules.report(principal, body);
      case "groups" -> SessionRules.unsubscribing(principal, body);
      case "membership", "sessions", "logins", "relay" ->
          throw Refusal.FORBIDDEN.error("the address '%s' is for nodes only", address);
      default -> throw noAddress(address);
    }
    boolean here = dot - NODE.length() == node.length() && address.startsWith(node, NODE.length());
    return here ? Answerer.HERE : Answerer.ELSEWHERE;
  }

  /** Whether it takes questions as JSON. */
  static boolean isApi(String address) {
    return API.contains(address);
  }

  /** Whether questions there are about topics, groups and nodes, and not messages. */
  static boolean ofSettings(String address) {
    return API.contains(address)
        && !address.equals(ApiAddresses.PRODUCE)
        && !address.equals(ApiAddresses.MESSAGES);
  }

  /**
   * The part of an answer that a user may see; not of the view of the cluster.
   *
   * @param question gives it as JSON, if the address takes that
   */
  static Buffer visible(
      Principal principal, String address, Supplier<JsonObject> question, Buffer answer) {
    if (!principal.bound()) {
      return answer;
    }
    // Also for who sees all topics and groups: that is not to read their messages.
    return ofSettings(address)
        ? Json.encodeToBuffer(
            ApiRules.visible(principal, address, question.get(), Json.decodeValue(answer)))
        : answer;
  }

  /** Whether whoever answers is to know the user. */
  static boolean namesUser(String address) {
    return namesSender(address)
        || ofSettings(address)
        || address.startsWith(NODE) && address.endsWith(".control");
  }

  /** Whether the node that answers is to know the session, too. */
  static boolean namesSender(String address) {
    return isDispatcher(address) || address.startsWith(NODE) && address.endsWith(".dealer");
  }

  /** Whether it is one of a broker's. */
  static boolean isBroker(String address) {
    return address.startsWith(NODE) && (address.endsWith(".data") || address.endsWith(".control"));
  }

  /** Whether a broker may let the request wait for messages. */
  static boolean mayWait(String address, Buffer body) {
    if (!isBroker(address)) {
      return false;
    }
    Op op = Frames.op(body);
    return op == Op.FETCH || op == Op.FETCH_MANY || op == Op.BROWSE;
  }

  /** Whether it is that of a dispatcher, to which members send heartbeats. */
  static boolean isDispatcher(String address) {
    return address.startsWith(NODE) && address.endsWith(".dispatcher");
  }

  private static RefusedException noAddress(String address) {
    return Refusal.INVALID.error("a session cannot send requests to '%s'", address);
  }

  /**
   * Checks that a session may listen at an address.
   *
   * @param session id of the session
   * @throws RefusedException INVALID; FORBIDDEN for the addresses of members if the user may be in
   *     no group
   */
  static void checkListening(Principal principal, String address, String session) {
    boolean allowed =
        SHARED.contains(address)
            || address.equals(Addresses.dedup(session))
            || address.startsWith(MEMBER) && isInstance(address);
    if (!allowed) {
      throw Refusal.INVALID.error("the session %s cannot listen at '%s'", session, address);
    }
    if (!SHARED.contains(address)) {
      principal.require(Need.of(null, Kind.GROUP));
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
