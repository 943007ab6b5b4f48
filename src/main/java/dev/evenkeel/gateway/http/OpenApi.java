package dev.evenkeel.gateway.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The description of the HTTP API, which is a file beside this class. */
final class OpenApi {
  private static final JsonObject DOCUMENT = read();

  private OpenApi() {}

  static JsonObject document() {
    return DOCUMENT;
  }

  private static JsonObject read() {
    try (InputStream in = OpenApi.class.getResourceAsStream("openapi.json")) {
      return new JsonObject(Buffer.buffer(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
