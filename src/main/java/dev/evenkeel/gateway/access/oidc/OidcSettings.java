package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.api.Permission;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Which tokens of an identity provider count, and what their users may do, as a file says:
 *
 * <pre>
 * {"issuer": "https://id.example.com/realms/shop",
 *  "audience": "evenkeel",
 *  "jwks": "https://id.example.com/realms/shop/protocol/openid-connect/certs",
 *  "name": "sub",
 *  "rules": [{"claim": "groups", "value": "team-billing",
 *             "may": ["consume:orders", "group:billing"]}]}
 * </pre>
 *
 * @param issuer what the claim {@code iss} must be
 * @param audience one of them must be in the claim {@code aud}
 * @param keys address of the keys, or of the document that says where they are; null: they are in
 *     {@code keysFile}
 * @param discovered whether {@code keys} is the address of such a document
 * @param keysFile null: they have an address
 * @param ca file with the authorities to trust at the address; null: those of the JDK
 * @param nameClaim claim with the name of the user
 * @param skewMillis how much the clocks of issuer and node may differ
 * @param refreshMillis how often to look for new keys
 */
public record OidcSettings(
    String issuer,
    List<String> audience,
    URI keys,
    boolean discovered,
    Path keysFile,
    Path ca,
    String nameClaim,
    long skewMillis,
    long refreshMillis,
    List<Rule> rules) {
  static final long SKEW_MILLIS_MAX = 60_000;
  private static final long REFRESH_MILLIS_MIN = 10_000;
  private static final long REFRESH_MILLIS_MAX = 24 * 3_600_000L;

  private static final List<String> KEYS =
      List.of("issuer", "audience", "jwks", "ca", "name", "clockSkew", "refresh", "rules");

  /** Without a look-up, whose answer may be another one later. */
  private static final Pattern LOOPBACK = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]");

  /** Claims that are one text with several values and spaces between them, see RFC 8693, 4.2. */
  private static final Set<String> SPACED = Set.of("scope", "scp");

  /**
   * What the users may do who have a value in a claim.
   *
   * @param claim its name; of a claim inside of others, their names with dots between them
   */
  public record Rule(String claim, String value, List<Permission> may) {
    boolean fits(Map<String, Object> claims) {
      Object said = find(claims, claim);
      if (said instanceof String text && SPACED.contains(claim)) {
        return List.of(text.split(" ")).contains(value);
      }
      return said instanceof List<?> several ? several.stream().anyMatch(this::is) : is(said);
    }

    private boolean is(Object said) {
      return (said instanceof String || said instanceof Number || said instanceof Boolean)
          && said.toString().equals(value);
    }
  }

  /**
   * Reads a file.
   *
   * @param directory where relative paths in it begin
   * @throws RefusedException INVALID, naming the field
   */
  public static OidcSettings parse(String text, Path directory) {
    try {
      JsonObject json = new JsonObject(text);
      Names.requireKnown("field", json.fieldNames(), KEYS);
      String issuer = needed(json, "issuer");
      String jwks = json.getString("jwks");
      boolean address = jwks == null || jwks.startsWith("https:") || jwks.startsWith("http:");
      String ca = json.getString("ca");
      return new OidcSettings(
          issuer,
          audience(json.getValue("audience")),
          jwks == null ? wellKnown(issuer) : address ? address("jwks", jwks) : null,
          jwks == null,
          address ? null : directory.resolve(jwks),
          ca == null ? null : directory.resolve(ca),
          json.getString("name", "sub"),
          millis(json, "clockSkew", "10s", 0, SKEW_MILLIS_MAX),
          millis(json, "refresh", "5m", REFRESH_MILLIS_MIN, REFRESH_MILLIS_MAX),
          rules(json.getJsonArray("rules", new JsonArray())));
    } catch (DecodeException | ClassCastException e) {
      throw Refusal.INVALID.error(
          "it must be JSON such as {\"issuer\",\"audience\",\"jwks\",\"rules\"}: %s",
          String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }

  private static String needed(JsonObject json, String field) {
    String value = json.getString(field);
    if (value == null || value.isBlank()) {
      throw Refusal.INVALID.error("the field '%s' is missing", field);
    }
    return value;
  }

  private static List<String> audience(Object json) {
    List<String> all = new ArrayList<>();
    for (Object each : json instanceof JsonArray several ? several : JsonArray.of(json)) {
      if (each != null && !((String) each).isBlank()) {
        all.add((String) each);
      }
    }
    if (all.isEmpty()) {
      throw Refusal.INVALID.error(
          "the field 'audience' is missing: without it, tokens for other services would count");
    }
    return List.copyOf(all);
  }

  /** Where an issuer says where its keys are, see OpenID Connect Discovery 1.0, 4. */
  private static URI wellKnown(String issuer) {
    String base = issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
    address("issuer", issuer);
    return address("issuer", base + "/.well-known/openid-configuration");
  }

  /**
   * Reads an address that keys may come from.
   *
   * @throws RefusedException INVALID if others could change the keys on their way
   */
  static URI address(String field, String text) {
    URI address;
    try {
      address = URI.create(text);
    } catch (IllegalArgumentException e) {
      throw Refusal.INVALID.error("the field '%s' is no address: %s", field, e.getMessage());
    }
    String host = address.getHost();
    boolean https = "https".equalsIgnoreCase(address.getScheme());
    if (host == null
        || address.getUserInfo() != null
        || !https && !"http".equalsIgnoreCase(address.getScheme())) {
      throw Refusal.INVALID.error("the field '%s' is '%s': use https://HOST/PATH", field, text);
    }
    if (!https && !LOOPBACK.matcher(host).matches()) {
      throw Refusal.INVALID.error(
          "the field '%s' is '%s': use https, because whoever can change the keys on their way can"
              + " make tokens",
          field, text);
    }
    return address;
  }

  private static long millis(JsonObject json, String field, String usual, long min, long max) {
    long millis = Durations.parseMillis(json.getString(field, usual));
    if (millis < min || millis > max) {
      throw Refusal.INVALID.error(
          "the field '%s' is %s: use %s to %s",
          field, Durations.format(millis), Durations.format(min), Durations.format(max));
    }
    return millis;
  }

  private static List<Rule> rules(JsonArray json) {
    List<Rule> rules = new ArrayList<>();
    for (Object each : json) {
      JsonObject rule = (JsonObject) each;
      Names.requireKnown("field of a rule", rule.fieldNames(), List.of("claim", "value", "may"));
      List<Permission> may =
          rule.getJsonArray("may", new JsonArray()).stream()
              .map(permission -> Permission.parse((String) permission))
              .toList();
      if (may.isEmpty()) {
        throw Refusal.INVALID.error("a rule has no permissions in 'may': it would let in nobody");
      }
      rules.add(new Rule(needed(rule, "claim"), needed(rule, "value"), may));
    }
    if (rules.isEmpty()) {
      throw Refusal.INVALID.error("the field 'rules' has no rule: nobody could come in");
    }
    return List.copyOf(rules);
  }

  /**
   * The user with these claims.
   *
   * @throws RefusedException UNAUTHENTICATED if no rule fits
   */
  OidcUser user(Map<String, Object> claims) {
    if (!(find(claims, nameClaim) instanceof String said)) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token has no text in the claim '%s', which names its user", nameClaim);
    }
    String name = OidcNames.of(said);
    List<Permission> may =
        rules.stream()
            .filter(rule -> rule.fits(claims))
            .flatMap(rule -> rule.may().stream())
            .distinct()
            .toList();
    if (may.isEmpty()) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token is valid, but its claims give the user '%s' no permission: ask the cluster's"
              + " administrator",
          name);
    }
    return new OidcUser(name, may);
  }

  /** A claim by its name, or by the names of those around it and its own. */
  private static Object find(Map<?, ?> claims, String name) {
    Object direct = claims.get(name);
    if (direct != null) {
      return direct;
    }
    for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      if (claims.get(name.substring(0, dot)) instanceof Map<?, ?> inner) {
        Object found = find(inner, name.substring(dot + 1));
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  /** Whether the keys come from the same place. */
  boolean hasKeysOf(OidcSettings other) {
    return issuer.equals(other.issuer)
        && Objects.equals(keys, other.keys)
        && Objects.equals(keysFile, other.keysFile)
        && Objects.equals(ca, other.ca);
  }
}
