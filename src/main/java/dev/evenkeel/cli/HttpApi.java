package dev.evenkeel.cli;

import dev.evenkeel.api.Operation;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.client.internal.session.Credentials;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.tls.TlsFailures;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;

/** A client of the HTTP API for commands. Every failure is a {@link CommandFailure}. */
public final class HttpApi {
  public static final String DEFAULT_URL = "http://127.0.0.1:8080";

  /** How often it looks whether the files of the credentials were replaced. */
  private static final long LOOK_NANOS = 1_000_000_000;

  /** How an answer begins if the node expects TLS. The client of the JDK shows it. */
  private static final String TLS_ALERT = "\u0015\u0003\u0003";

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(40);

  /**
   * The answer to a request.
   *
   * @param json an object, an array, or null if there is none
   */
  record Answer(Object json, HttpHeaders headers) {}

  /** That a node refused a request, in place of not answering it: the cause of the failure. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String error;

    /**
     * @param error the word of the API for it; null: the answer has none
     */
    Refused(int status, String error) {
      super("HTTP status " + status + (error == null ? "" : ", " + error));
      this.status = status;
      this.error = error;
    }

    String error() {
      return error;
    }

    /** Whether the same request may succeed later. */
    boolean mayPass() {
      return status == 429 || status >= 500;
    }
  }

  private final String url;
  private final HttpClient client;

  private final Credentials credentials;

  /** Null: the file of the credentials has it, if any. */
  private final String token;

  private long lookedNanos = System.nanoTime();
  private String tokenOfFile;

  /** Of a node without TLS, or with a certificate that everybody trusts. */
  public HttpApi(String url) {
    this(url, Credentials.NONE);
  }

  /**
   * @param credentials without TLS, the authorities of the JDK are trusted
   * @throws CommandFailure if the token cannot be read
   */
  public HttpApi(String url, Credentials credentials) {
    this(url, credentials, null);
    tokenOfFile = token(credentials);
  }

  /**
   * @param token null: what the file of the credentials has
   */
  HttpApi(String url, Credentials credentials, String token) {
    String trimmed = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    boolean right;
    try {
      URI uri = URI.create(trimmed);
      right = uri.getHost() != null && String.valueOf(uri.getScheme()).matches("https?");
    } catch (IllegalArgumentException e) {
      right = false;
    }
    CommandFailure.refuseIf(!right, "--http '" + url + "': write " + DEFAULT_URL);
    refuseClearText(URI.create(trimmed), credentials, token);
    this.url = trimmed;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT);
    if (credentials.tls() != null) {
      builder.sslContext(credentials.tls().context());
    } else if (trimmed.startsWith("http:")) {
      builder.sslContext(withoutAuthorities());
    }
    this.token = token;
    this.credentials = credentials;
    client = builder.build();
  }

  private static void refuseClearText(URI uri, Credentials credentials, String token) {
    boolean clear = uri.getScheme().equals("http") && !HostPort.isLoopback(host(uri));
    CommandFailure.refuseIf(
        clear && (token != null || credentials.hasToken()),
        "--http '%s': the token would go over the network in clear text: write https://%s"
            .formatted(uri, uri.getRawAuthority()));
  }

  private static String host(URI uri) {
    String host = uri.getHost();
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  /** For addresses without TLS: the client would otherwise read the authorities of the JDK. */
  private static SSLContext withoutAuthorities() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[0], null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String token(Credentials credentials) {
    try {
      return credentials.token();
    } catch (RefusedException e) {
      throw CommandFailure.failed(e.words(), e);
    }
  }

  /** Escapes a segment of a path. */
  static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** The JSON object or array of the answer; null if there is none. */
  public <T> T get(String path) {
    return call("GET", path, null);
  }

  /** Asks an operation of the API. */
  public <Q extends Record, A> A read(Operation<Q, A> operation, Q question) {
    return operation.readAnswer(ask(operation, question));
  }

  /** Asks an operation of the API; gives the answer as JSON. */
  public <Q extends Record> Object ask(Operation<Q, ?> operation, Q question) {
    return answer(operation, question).json();
  }

  /** As {@link #ask}, with the headers. */
  <Q extends Record> Answer answer(Operation<Q, ?> operation, Q question) {
    JsonObject rest = operation.ask(question);
    rest.remove(Operation.ACTION);
    List.copyOf(rest.fieldNames()).stream()
        .filter(each -> rest.getValue(each) == null)
        .forEach(rest::remove);
    String path = operation.path(parameter -> segment(ofPath(operation, rest, parameter)));
    operation.parameters().forEach(each -> rest.remove(operation.field(each)));
    String method = operation.method().name();
    if (operation.hasBody()) {
      return answer(method, path, rest);
    }
    String query =
        rest.stream()
            .map(each -> each.getKey() + "=" + segment(String.valueOf(each.getValue())))
            .collect(Collectors.joining("&"));
    return answer(method, query.isEmpty() ? path : path + "?" + query, null);
  }

  private static String ofPath(Operation<?, ?> operation, JsonObject question, String parameter) {
    String field = operation.field(parameter);
    String value = String.valueOf(question.getValue(field));
    // Without it, the path would be that of another operation.
    CommandFailure.refuseIf(value.isEmpty(), "the " + field + " is empty: write one");
    Class<? extends Record> parts = operation.parts(field);
    return parts == null
        ? value
        : value.split("/", -1)[RecordJson.of(parts).fields().indexOf(parameter)];
  }

  /** As {@link #get}, with any method. */
  @SuppressWarnings("unchecked")
  public <T> T call(String method, String path, JsonObject body) {
    return (T) answer(method, path, body).json();
  }

  /** As {@link #call}, with the headers. */
  Answer answer(String method, String path, JsonObject body) {
    HttpRequest.Builder request =
        to(path)
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.encode()));
    if (body != null) {
      request.header("content-type", "application/json");
    }
    HttpResponse<byte[]> response = send(request.build());
    Object json = decode(response);
    int status = response.statusCode();
    if (status / 100 == 2) {
      return new Answer(json, response.headers());
    }
    String message = json instanceof JsonObject error ? error.getString("message") : null;
    if (message == null) {
      throw badStatus(response);
    }
    throw CommandFailure.failed(
        status == 401 ? message + " (--token-file FILE)" : message,
        new Refused(status, ((JsonObject) json).getString("error")));
  }

  private HttpRequest.Builder to(String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).timeout(TIMEOUT);
    String shown = renewed();
    return shown == null ? request : request.header("authorization", "Bearer " + shown);
  }

  /** Takes up files that were replaced: some commands run for long. Gives the token, or null. */
  private synchronized String renewed() {
    long now = System.nanoTime();
    if (now - lookedNanos >= LOOK_NANOS) {
      lookedNanos = now;
      try {
        String ofFile = credentials.renewed();
        tokenOfFile = token == null ? ofFile : null;
      } catch (RefusedException beingReplaced) {
        // The former token stays in force.
      }
    }
    return token == null ? tokenOfFile : token;
  }

  /** The text of an answer that is not JSON. */
  public String text(String path) {
    HttpResponse<byte[]> response = send(to(path).build());
    if (response.statusCode() / 100 != 2) {
      throw badStatus(response);
    }
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  private CommandFailure badStatus(HttpResponse<byte[]> response) {
    int status = response.statusCode();
    return CommandFailure.failed(
        url + " answered with HTTP status " + status, new Refused(status, null));
  }

  private HttpResponse<byte[]> send(HttpRequest request) {
    try {
      return client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    } catch (HttpTimeoutException e) {
      throw CommandFailure.failed(
          "no answer from " + url + " in time: is it the HTTP port of a node?", e);
    } catch (ConnectException | UnresolvedAddressException e) {
      throw unreachable(e);
    } catch (SSLException e) {
      throw CommandFailure.failed(noTls(e), e);
    } catch (IOException e) {
      if (e.getCause() instanceof UnresolvedAddressException) {
        throw unreachable(e);
      }
      if (String.valueOf(e.getMessage()).contains(TLS_ALERT)) {
        throw CommandFailure.failed(
            url + " speaks TLS: write https://, and give --ca FILE with the authority", e);
      }
      String hint =
          url.startsWith("http:")
              ? ". If the node has TLS, write https://, and give --ca FILE"
              : "";
      throw CommandFailure.failed("talking to " + url + " failed: " + e.getMessage() + hint, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted", e);
    }
  }

  private String noTls(SSLException failure) {
    if (TlsFailures.isAboutTime(failure)) {
      return "%s cannot be trusted: %s: renew it, or correct the clock here"
          .formatted(url, TlsFailures.reason(failure));
    }
    return TlsFailures.isAboutCertificate(failure)
        ? ("%s shows a certificate that is not trusted (%s): name the file with the certificate of"
                + " its authority with --ca FILE")
            .formatted(url, TlsFailures.reason(failure))
        : url + " does not answer with TLS: if the node has none, write http://";
  }

  private CommandFailure unreachable(Exception e) {
    return CommandFailure.failed(
        "cannot connect to "
            + url
            + ": start a node with 'evenkeel serve', or name another with --http URL",
        e);
  }

  private Object decode(HttpResponse<byte[]> response) {
    if (response.body().length == 0) {
      return null;
    }
    try {
      // As a string: a buffer would start Netty and the log.
      return Json.decodeValue(new String(response.body(), StandardCharsets.UTF_8));
    } catch (DecodeException e) {
      throw CommandFailure.failed(
          String.format(
              "%s does not speak Evenkeel's API (HTTP status %s): name the HTTP port of a node with"
                  + " --http URL",
              url, response.statusCode()),
          e);
    }
  }
}
