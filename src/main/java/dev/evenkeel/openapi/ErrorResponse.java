package dev.evenkeel.openapi;

import dev.evenkeel.api.ErrorView;
import dev.evenkeel.api.HttpStatus;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The responses with which any operation may fail, by their status. */
enum ErrorResponse {
  INVALID(
      400,
      "Invalid",
      "INVALID, OFFSET_OUT_OF_RANGE or WRONG_VERSION: the request is wrong. An unknown field or"
          + " query parameter is, too.",
      error("INVALID", "unknown query parameter 'foo': known are shard, offset, limit")),
  UNAUTHENTICATED(
      401,
      "Unauthenticated",
      "UNAUTHENTICATED: the cluster has users, and the request comes from none of them.",
      error("UNAUTHENTICATED", "the cluster has users: show a token or a certificate of one")),
  FORBIDDEN(
      403,
      "Forbidden",
      "FORBIDDEN: the user lacks a permission, which the message names. Or a page of another host"
          + " or port sent a request that changes something, or opens a WebSocket.",
      error("FORBIDDEN", "the user 'shop' needs the permission view:secrets")),
  UNKNOWN(
      404,
      "Unknown",
      "UNKNOWN_TOPIC, UNKNOWN_SHARD, UNKNOWN_GROUP, UNKNOWN_SESSION, UNKNOWN_MESSAGE or NOT_FOUND:"
          + " there is no such thing.",
      error("UNKNOWN_TOPIC", "there is no topic 'nowhere': create it first"),
      error("UNKNOWN_GROUP", "there is no group 'nobody'")),
  REQUEST_TIMEOUT(
      408,
      "RequestTimeout",
      "REQUEST_TIMEOUT: the request did not arrive whole in time.",
      error("REQUEST_TIMEOUT", "the request did not come whole within 30000 ms")),
  CONFLICT(
      409,
      "Conflict",
      "The request conflicts with the present state: TOPIC_EXISTS, GROUP_ACTIVE, GROUP_MISMATCH,"
          + " FENCED, PRODUCER_FENCED, UNKNOWN_PRODUCER, MEMBER_REPLACED or SEALED.",
      error("TOPIC_EXISTS", "topic 'orders' exists with 6 shards"),
      error(
          "GROUP_ACTIVE",
          "'b' owns shard orders/0: stop the group's consumers, or use force, which takes it from"
              + " them")),
  TOO_LARGE(
      413,
      "TooLarge",
      "TOO_LARGE: payload, key, headers or body are over the limit.",
      error("TOO_LARGE", "the body has more than 65536 bytes")),
  UNSUPPORTED_MEDIA_TYPE(
      415,
      "UnsupportedMediaType",
      "UNSUPPORTED_MEDIA_TYPE: the operation does not take this content type, or an HTML form can"
          + " send it.",
      error(
          "UNSUPPORTED_MEDIA_TYPE",
          "forms can send 'text/plain', so it is refused: send content-type: application/json, or"
              + " for a plain payload application/octet-stream")),
  MISDIRECTED(
      421,
      "Misdirected",
      "MISDIRECTED_REQUEST: the Host is none of the names of the node.",
      error(
          "MISDIRECTED_REQUEST",
          "the Host 'other.example' is no name of this node: add it to the setting http-names, or"
              + " use an IP address")),
  KEY_REUSED(
      422,
      "KeyReused",
      "IDEMPOTENCY_KEY_REUSED: the same Idempotency-Key came with another body.",
      error("IDEMPOTENCY_KEY_REUSED", "the Idempotency-Key was used with another body before")),
  UPGRADE_REQUIRED(
      426,
      "UpgradeRequired",
      "BAD_REQUEST: the request does not open a WebSocket.",
      error("BAD_REQUEST", "this is a WebSocket: connect with ws://")),
  OVERLOADED(
      429,
      "Overloaded",
      "OVERLOADED: the node has reached a limit. Try again after a pause.",
      error("OVERLOADED", "too many requests are pending: try again after a pause")),
  UNAVAILABLE(
      503,
      "Unavailable",
      "UNAVAILABLE, NOT_LEADER, DISK_FULL, SEQUENCE_GAP or OVERLOADED: the request certainly had no"
          + " effect. INDETERMINATE: it may have had one, so check before you repeat it.",
      error(
          "UNAVAILABLE",
          "the node is not ready: it is starting or stopping; try again once /health/ready answers"
              + " 200"),
      error(
          "INDETERMINATE",
          "no answer within 30 s: the request may have had an effect, so check before you repeat"
              + " it")),
  OTHER(
      0,
      "Other",
      "Any other error: METHOD_NOT_ALLOWED (405), URI_TOO_LONG (414), HEADERS_TOO_LARGE (431),"
          + " INTERNAL or CORRUPT (500), REPLICAS_MISSING (504), or BAD_REQUEST.",
      error("METHOD_NOT_ALLOWED", "PUT is not possible at /api/topics"));

  private static final Pattern WORD = Pattern.compile("[A-Z]+_[A-Z_]+");

  private final int status;
  private final String title;
  private final String text;
  private final ErrorView[] examples;

  ErrorResponse(int status, String title, String text, ErrorView... examples) {
    this.status = status;
    this.title = title;
    this.text = text;
    this.examples = examples;
  }

  private static ErrorView error(String word, String message) {
    return new ErrorView(word, message, null);
  }

  /** All words of errors. */
  static Set<String> words() {
    Set<String> words = new TreeSet<>();
    for (Refusal each : Refusal.values()) {
      words.add(each.name());
    }
    for (ErrorResponse each : values()) {
      WORD.matcher(each.text).results().forEach(word -> words.add(word.group()));
    }
    return words;
  }

  /** All responses, by their titles. */
  static JsonObject all(JsonObject schema) {
    JsonObject all = new JsonObject();
    for (ErrorResponse each : values()) {
      all.put(each.title, each.json(schema));
    }
    return all;
  }

  private JsonObject json(JsonObject schema) {
    JsonObject shown = new JsonObject();
    for (ErrorView each : examples) {
      shown.put(each.error(), new JsonObject().put("value", RecordJson.json(each)));
    }
    JsonObject content = new JsonObject().put("schema", schema).put("examples", shown);
    JsonObject json =
        new JsonObject()
            .put("description", text)
            .put("content", new JsonObject().put(OpenApiDocument.JSON, content));
    if (this == OVERLOADED || this == UNAVAILABLE) {
      JsonObject wait =
          new JsonObject()
              .put(
                  "description",
                  "Seconds to wait: the time that the message names, rounded up, or 1")
              .put("schema", new JsonObject().put("type", "integer"))
              .put("example", 1);
      json.put("headers", new JsonObject().put("Retry-After", wait));
    }
    return json;
  }

  /** Those with which an operation may fail, by their statuses. */
  static Map<String, JsonObject> of(Operation<?, ?> operation) {
    Map<String, JsonObject> errors = new LinkedHashMap<>();
    Stream.of(values())
        .filter(each -> each != OTHER && each.isPossible(operation))
        .forEach(each -> errors.put(String.valueOf(each.status), each.refer()));
    errors.put("default", OTHER.refer());
    return errors;
  }

  private boolean isPossible(Operation<?, ?> operation) {
    if (operation.refusals().stream().anyMatch(each -> HttpStatus.of(each) == status)) {
      return true;
    }
    return switch (this) {
      case INVALID, MISDIRECTED, UNAVAILABLE -> true;
      case UNAUTHENTICATED -> !operation.isOpen();
      case FORBIDDEN -> !operation.isOpen() || operation.method() != Operation.Method.GET;
      case REQUEST_TIMEOUT, TOO_LARGE, UNSUPPORTED_MEDIA_TYPE -> operation.hasBody();
      default -> false;
    };
  }

  private JsonObject refer() {
    return new JsonObject().put("$ref", "#/components/responses/" + title);
  }
}
