package dev.evenkeel.openapi;

import dev.evenkeel.api.Heading;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** What the document says beside the operations. */
final class Frame {
  private static final String NAME = "name";
  private static final String TEXT = "description";
  private static final String USUAL = "default";

  private Frame() {}

  static JsonObject document() {
    return new JsonObject()
        .put("openapi", "3.1.0")
        .put(
            "info",
            new JsonObject()
                .put("title", "Evenkeel")
                .put("version", "1")
                .put("summary", "Topics, messages and groups of an Evenkeel cluster")
                .put(
                    TEXT,
                    "Every error is a JSON object with a word for programs (error) and a line for"
                        + " people (message). If the cluster has users, every request under /api,"
                        + " /metrics and /ws needs one: by a token in the header Authorization, by"
                        + " the cookie that POST /api/session sets, or by a client certificate."
                        + " The description of an operation names the permission that its user"
                        + " needs. If the cluster has no users, everybody may do everything.")
                .put(
                    "license",
                    new JsonObject()
                        .put(NAME, "Apache-2.0")
                        .put("url", "https://www.apache.org/licenses/LICENSE-2.0")))
        .put("servers", new JsonArray().add(anyNode()).add(thisNode()))
        .put("security", security())
        .put("tags", tags());
  }

  private static JsonObject anyNode() {
    return new JsonObject()
        .put("url", "{scheme}://{node}")
        .put(TEXT, "A node with the role web")
        .put(
            "variables",
            new JsonObject()
                .put(
                    "scheme",
                    new JsonObject()
                        .put(USUAL, "http")
                        .put("enum", new JsonArray().add("http").add("https"))
                        .put(TEXT, "https if the node has tls"))
                .put(
                    "node",
                    new JsonObject()
                        .put(USUAL, "127.0.0.1:8080")
                        .put(TEXT, "Host and HTTP port of the node")));
  }

  private static JsonObject thisNode() {
    return new JsonObject().put("url", "/").put(TEXT, "The node that sent this document");
  }

  /** Any of the schemes, or none. */
  private static JsonArray security() {
    JsonArray any = new JsonArray();
    securitySchemes()
        .fieldNames()
        .forEach(each -> any.add(new JsonObject().put(each, new JsonArray())));
    return any.add(new JsonObject());
  }

  static JsonObject securitySchemes() {
    return new JsonObject()
        .put(
            "token",
            new JsonObject()
                .put("type", "http")
                .put("scheme", "bearer")
                .put("bearerFormat", "ek_ID_SECRET")
                .put(TEXT, "The token of a user, as 'user add' prints it"))
        .put(
            "cookie",
            new JsonObject()
                .put("type", "apiKey")
                .put("in", "cookie")
                .put(NAME, "evenkeel-token")
                .put(TEXT, "The same token, as POST /api/session sets it for browsers"))
        .put(
            "certificate",
            new JsonObject()
                .put("type", "mutualTLS")
                .put(TEXT, "The certificate of a user, on a connection with TLS"));
  }

  private static JsonArray tags() {
    JsonArray tags = new JsonArray();
    for (Heading each : Heading.values()) {
      tags.add(new JsonObject().put(NAME, each.word()).put(TEXT, each.text()));
    }
    return tags;
  }
}
