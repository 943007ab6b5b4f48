package dev.evenkeel.gateway.access;

import dev.evenkeel.api.ListUsers.TokenView;
import dev.evenkeel.api.ListUsers.UserDetail;
import dev.evenkeel.api.Permission;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * All users, as the file says:
 *
 * <pre>
 * {"users": [{"name": "shop",
 *             "tokens": [{"id": "1c0ffee2", "sha256": "of the secret, in hexadecimal digits",
 *                         "expires": "2027-01-31T00:00:00Z, if ever"}],
 *             "certificate": "common name of the certificate of its programs, if any",
 *             "share": 2,
 *             "may": ["produce:orders", "view:*"]}]}
 * </pre>
 *
 * <p>It never changes; a changed user makes another one.
 */
public final class Users {
  /** Nobody. */
  public static final Users NONE = new Users(List.of());

  private static final List<String> KEYS = List.of("name", "tokens", "certificate", "share", "may");

  /** Bounds of the share of a user. */
  private static final double SHARE_MIN = ClusterUser.SHARE_PERMILLE_MIN / 1_000.0;

  private static final double SHARE_MAX = ClusterUser.SHARE_PERMILLE_MAX / 1_000.0;

  /**
   * @param certificate common name of its certificates, or null
   * @param share of what is scarce, see {@link FairShare}: from 0.1 to 100, usually 1
   */
  public record User(
      String name,
      List<Token.Digest> tokens,
      String certificate,
      double share,
      List<Permission> may) {
    /**
     * @throws RefusedException INVALID if the share is not within its bounds
     */
    public User {
      if (!(share >= SHARE_MIN && share <= SHARE_MAX)) {
        throw Refusal.INVALID.error(
            "the share of the user '%s' must be a number from %s to %s, not %s",
            name, SHARE_MIN, SHARE_MAX, share);
      }
    }

    Principal principal() {
      return new Principal(name, may);
    }

    /** A user that the cluster keeps. Permissions that this version does not know count nothing. */
    public static User of(ClusterUser kept) {
      List<Permission> may = new ArrayList<>();
      for (String each : kept.may()) {
        try {
          may.add(Permission.parse(each));
        } catch (RefusedException ofALaterVersion) {
          // What no permission allows is denied.
        }
      }
      return new User(
          kept.name(),
          kept.tokens().stream().map(Token.Digest::of).toList(),
          kept.certificate(),
          kept.sharePermille() / 1_000.0,
          List.copyOf(may));
    }

    /** The same for the API. */
    public UserDetail detail(String source, boolean hidden) {
      return new UserDetail(
          name,
          source,
          hidden,
          tokens.stream().map(each -> new TokenView(each.id(), each.expires())).toList(),
          certificate,
          share,
          may.stream().map(Permission::toString).toList());
    }

    /**
     * When it has no valid token any more.
     *
     * @return null: never, or it has no tokens
     */
    Instant ends() {
      boolean ends =
          certificate == null
              && !tokens.isEmpty()
              && tokens.stream().allMatch(each -> each.expires() != null);
      return ends
          ? tokens.stream().map(Token.Digest::expires).max(Comparator.naturalOrder()).orElseThrow()
          : null;
    }
  }

  /**
   * Whom a token or a certificate shows.
   *
   * @param expires from then on it does not any more; null: never
   */
  record Found(Principal principal, Instant expires) {
    /**
     * @throws RefusedException UNAUTHENTICATED if it has expired
     */
    Principal at(long nowMillis) {
      if (expires != null && nowMillis >= expires.toEpochMilli()) {
        throw Refusal.UNAUTHENTICATED.error(
            "this token expired on %s: ask for another one", expires);
      }
      return principal;
    }
  }

  private record TokenOf(Token.Digest token, Found found) {}

  private final Map<String, User> byName = new LinkedHashMap<>();
  private final Map<String, TokenOf> byToken = new HashMap<>();
  private final Map<String, Found> byCertificate = new HashMap<>();

  /** When each user that does has no valid token any more, in milliseconds since 1970, sorted. */
  private final List<Long> ends = new ArrayList<>();

  /**
   * @throws RefusedException INVALID if two users have the same name, token or certificate
   */
  public Users(List<User> users) {
    for (User user : users) {
      if (!add(user)) {
        throw Refusal.INVALID.error(
            "the user '%s' has the name, a token or the certificate of another user: give each its"
                + " own",
            user.name());
      }
    }
    sortEnds();
  }

  private void sortEnds() {
    ends.clear();
    byName.values().stream()
        .map(User::ends)
        .filter(Objects::nonNull)
        .map(Instant::toEpochMilli)
        .sorted()
        .forEach(ends::add);
  }

  /** How many users had valid tokens, and have none any more. */
  int ended(long nowMillis) {
    return (int) ends.stream().takeWhile(each -> each <= nowMillis).count();
  }

  /** When the next user has no valid token any more, in milliseconds since 1970; null: never. */
  Long nextEnd(long nowMillis) {
    int ended = ended(nowMillis);
    return ended < ends.size() ? ends.get(ended) : null;
  }

  /**
   * These users, and others; of two with the same name, token or certificate, it is these.
   *
   * @param others none has the name of another one
   */
  Users and(List<User> others) {
    Users both = new Users(all());
    others.stream().filter(each -> named(each.name()) == null).forEach(both::add);
    both.sortEnds();
    return both;
  }

  /** What is there already stays. Whether nothing of it was. */
  private boolean add(User user) {
    Principal principal = user.principal();
    boolean unique = byName.putIfAbsent(user.name(), user) == null;
    for (Token.Digest token : user.tokens()) {
      TokenOf of = new TokenOf(token, new Found(principal, token.expires()));
      unique &= byToken.putIfAbsent(token.id(), of) == null;
    }
    return (user.certificate() == null
            || byCertificate.putIfAbsent(user.certificate(), new Found(principal, null)) == null)
        && unique;
  }

  /** All users, in the order of the file. */
  public List<User> all() {
    return List.copyOf(byName.values());
  }

  /** The user of that name, or null. */
  public User named(String name) {
    return byName.get(name);
  }

  /** The share of a user: 1 unless the file says otherwise. */
  double share(String name) {
    User user = byName.get(name);
    return user == null ? 1 : user.share();
  }

  /** Whether somebody has a token with that id. */
  boolean knowsToken(String id) {
    return byToken.containsKey(id);
  }

  /** Who has that token; null: nobody. */
  Found ofToken(String text) {
    Token token = Token.parse(text);
    TokenOf known = token == null ? null : byToken.get(token.id());
    return known != null && token.fits(known.token()) ? known.found() : null;
  }

  /** Whose certificates have that common name; null: nobody's. */
  Found ofCertificate(String commonName) {
    return commonName == null ? null : byCertificate.get(commonName);
  }

  /**
   * Reads a file of users.
   *
   * @throws RefusedException INVALID, naming the user and the field
   */
  public static Users parse(String text) {
    List<User> users = new ArrayList<>();
    try {
      JsonObject file = new JsonObject(text);
      Names.requireKnown("field", file.fieldNames(), List.of("users"));
      for (Object each : file.getJsonArray("users", new JsonArray())) {
        users.add(user((JsonObject) each));
      }
    } catch (DecodeException | ClassCastException e) {
      throw Refusal.INVALID.error(
          "a users file is JSON such as {\"users\":[{\"name\",\"tokens\",\"may\"}]}: %s",
          firstLine(e));
    }
    return new Users(users);
  }

  private static String firstLine(Exception e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
  }

  private static User user(JsonObject json) {
    Names.requireKnown("field of a user", json.fieldNames(), KEYS);
    String name = Names.check("user", json.getString("name"));
    List<Token.Digest> tokens = new ArrayList<>();
    for (Object each : json.getJsonArray("tokens", new JsonArray())) {
      tokens.add(Token.Digest.fromJson(name, (JsonObject) each));
    }
    List<Permission> may =
        json.getJsonArray("may", new JsonArray()).stream()
            .map(each -> Permission.parse(String.valueOf(each)))
            .toList();
    return new User(
        name,
        List.copyOf(tokens),
        json.getString("certificate"),
        json.getDouble("share", 1.0),
        may);
  }

  /** The text of a file with these users. */
  public String text() {
    JsonArray all = new JsonArray();
    for (User user : byName.values()) {
      JsonObject json = new JsonObject().put("name", user.name());
      JsonArray tokens = new JsonArray();
      user.tokens().forEach(token -> tokens.add(token.toJson()));
      json.put("tokens", tokens);
      if (user.certificate() != null) {
        json.put("certificate", user.certificate());
      }
      if (user.share() != 1) {
        json.put("share", user.share());
      }
      JsonArray may = new JsonArray();
      user.may().forEach(permission -> may.add(permission.toString()));
      all.add(json.put("may", may));
    }
    return new JsonObject().put("users", all).encodePrettily() + "\n";
  }
}
