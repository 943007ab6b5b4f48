package dev.evenkeel.gateway.access.oidc;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** An identity provider on this machine, which publishes its keys over HTTP and makes tokens. */
public final class TestIssuer implements AutoCloseable {
  public static final String AUDIENCE = "evenkeel";

  private final HttpServer server;
  private final List<JWK> published = new CopyOnWriteArrayList<>();
  private final AtomicInteger asked = new AtomicInteger();
  private volatile RSAKey rsa;

  /** What it answers instead of the keys; null: the keys. */
  public volatile String instead;

  /** The status that it answers with. */
  public volatile int status = 200;

  public TestIssuer() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    rsa = rsaKey("first");
    published.add(rsa);
    answer("/.well-known/openid-configuration", this::discovery);
    answer("/keys", this::keys);
    server.start();
  }

  private interface Text {
    String get();
  }

  private void answer(String path, Text text) {
    server.createContext(
        path,
        exchange -> {
          byte[] body = text.get().getBytes(StandardCharsets.UTF_8);
          try (exchange) {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
          } catch (IOException e) {
            // The node has heard enough.
          }
        });
  }

  private String discovery() {
    return new JsonObject().put("issuer", url()).put("jwks_uri", url() + "/keys").encode();
  }

  private String keys() {
    asked.incrementAndGet();
    return instead == null ? jwks() : instead;
  }

  /** How often somebody has asked for the keys. */
  public int asked() {
    return asked.get();
  }

  /** Its keys as it publishes them. */
  public String jwks() {
    return new JWKSet(List.copyOf(published)).toString(true);
  }

  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  static RSAKey rsaKey(String id) throws Exception {
    return new RSAKeyGenerator(2_048).keyID(id).generate();
  }

  static ECKey ecKey(String id, Curve curve) throws Exception {
    return new ECKeyGenerator(curve).keyID(id).generate();
  }

  /** Publishes another key beside those that are there. */
  void publish(JWK key) {
    published.add(key);
  }

  /** Publishes another key instead of the present ones, and signs with it. */
  public void rotate(String id) throws Exception {
    rsa = rsaKey(id);
    published.clear();
    published.add(rsa);
  }

  RSAKey rsa() {
    return rsa;
  }

  /** What nodes need to know. */
  public JsonObject settings(JsonObject... rules) {
    return new JsonObject()
        .put("issuer", url())
        .put("audience", AUDIENCE)
        .put("clockSkew", "0s")
        .put("rules", new JsonArray(List.of(rules)));
  }

  public static JsonObject rule(String claim, String value, String... may) {
    return new JsonObject()
        .put("claim", claim)
        .put("value", value)
        .put("may", new JsonArray(List.of(may)));
  }

  /** The claims of a token that counts for a minute. */
  public JWTClaimsSet.Builder claims(String subject, String... groups) {
    return new JWTClaimsSet.Builder()
        .issuer(url())
        .audience(AUDIENCE)
        .subject(subject)
        .expirationTime(Date.from(Instant.now().plusSeconds(60)))
        .claim("groups", List.of(groups));
  }

  public String sign(JWTClaimsSet.Builder claims) throws Exception {
    return sign(new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(rsa.getKeyID()), rsa, claims);
  }

  /** A token that counts for a minute. */
  public String token(String subject, String... groups) throws Exception {
    return sign(claims(subject, groups));
  }

  static String sign(JWSHeader.Builder header, JWK key, JWTClaimsSet.Builder claims)
      throws Exception {
    JWSHeader built = header.build();
    SignedJWT jwt =
        new SignedJWT(
            built.getType() == null ? header.type(JOSEObjectType.JWT).build() : built,
            claims.build());
    jwt.sign(key instanceof RSAKey rsa ? new RSASSASigner(rsa) : new ECDSASigner((ECKey) key));
    return jwt.serialize();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
