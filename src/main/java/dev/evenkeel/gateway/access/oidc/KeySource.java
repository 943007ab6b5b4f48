package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.tracing.TracingPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Where the keys of an issuer come from: an address, or a file. */
final class KeySource implements AutoCloseable {
  static final int BYTES_MAX = 512 << 10;

  /** For all that one reading asks for. */
  static final long READ_MILLIS_MAX = 4_000;

  private final Vertx vertx;

  /** An event loop: on others threads, an answer could come before somebody waits for it. */
  private final Context context;

  private final OidcSettings settings;

  /** Null: the keys come from a file. */
  private final HttpClient http;

  KeySource(Vertx vertx, OidcSettings settings) {
    this.vertx = vertx;
    context = EventLoops.forHandlers(vertx);
    this.settings = settings;
    http = settings.keys() == null ? null : vertx.createHttpClient(options(settings.ca()));
  }

  private static HttpClientOptions options(Path ca) {
    HttpClientOptions options =
        new HttpClientOptions()
            .setConnectTimeout((int) READ_MILLIS_MAX)
            .setIdleTimeout((int) READ_MILLIS_MAX)
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            .setKeepAlive(false)
            .setVerifyHost(true)
            .setTracingPolicy(TracingPolicy.IGNORE);
    return ca == null
        ? options
        : options.setTrustOptions(new PemTrustOptions().addCertPath(ca.toString()));
  }

  /** Reads the keys. Fails with INVALID or UNAVAILABLE, saying why there are none. */
  Future<IssuerKeys> read() {
    Promise<IssuerKeys> promise = Promise.promise();
    context.runOnContext(
        none ->
            text()
                .map(IssuerKeys::parse)
                .timeout(READ_MILLIS_MAX, TimeUnit.MILLISECONDS)
                .onComplete(promise));
    return promise.future();
  }

  private Future<String> text() {
    return http == null
        ? vertx.executeBlocking(() -> file(settings.keysFile()), false)
        : (settings.discovered()
                ? get(settings.keys()).map(this::keysAddress)
                : Future.succeededFuture(settings.keys()))
            .compose(this::get);
  }

  /** Where they come from, for people. */
  String name() {
    return String.valueOf(http == null ? settings.keysFile() : settings.keys());
  }

  private static String file(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(BYTES_MAX + 1);
      if (bytes.length > BYTES_MAX) {
        throw tooLarge();
      }
      return Buffer.buffer(bytes).toString();
    }
  }

  private static RefusedException tooLarge() {
    return Refusal.INVALID.error("it has more than %s bytes", BYTES_MAX);
  }

  /** The address of the keys, as the issuer's document has it. */
  private URI keysAddress(String document) {
    try {
      JsonObject json = new JsonObject(document);
      if (!settings.issuer().equals(json.getString("issuer"))) {
        throw Refusal.INVALID.error(
            "the document is of the issuer '%s', and not of '%s': correct the field 'issuer'",
            JwtToken.shown(json.getString("issuer")), settings.issuer());
      }
      return OidcSettings.address("jwks_uri", json.getString("jwks_uri", ""));
    } catch (DecodeException | ClassCastException e) {
      throw Refusal.INVALID.error("the document with the field 'jwks_uri' is no JSON object");
    }
  }

  /** Asks an address. It follows no redirects: they could lead anywhere. */
  private Future<String> get(URI address) {
    RequestOptions request =
        new RequestOptions()
            .setMethod(HttpMethod.GET)
            .setAbsoluteURI(address.toString())
            .putHeader("accept", "application/json");
    return http.request(request)
        .compose(sent -> sent.send())
        .compose(response -> body(address, response));
  }

  private static Future<String> body(URI address, HttpClientResponse response) {
    if (response.statusCode() != 200) {
      response.request().reset();
      return Future.failedFuture(
          Refusal.UNAVAILABLE.error(
              "%s answers with status %s instead of 200", address, response.statusCode()));
    }
    Promise<String> promise = Promise.promise();
    Buffer all = Buffer.buffer();
    response.handler(
        part -> {
          if (all.length() + part.length() > BYTES_MAX) {
            promise.tryFail(tooLarge());
            response.request().reset();
          } else {
            all.appendBuffer(part);
          }
        });
    response.exceptionHandler(promise::tryFail);
    response.endHandler(end -> promise.tryComplete(all.toString()));
    return promise.future();
  }

  @Override
  public void close() {
    if (http != null) {
      http.close();
    }
  }
}
