package dev.evenkeel.gateway.access.oidc;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The public keys that an issuer signs with, from its JSON Web Key Set. Only keys with which nobody
 * can sign who knows them: no shared secrets. It never changes.
 */
final class IssuerKeys {
  /** None yet. */
  static final IssuerKeys NONE = new IssuerKeys(List.of());

  private static final int KEYS_MAX = 100;
  private static final int RSA_BITS_MIN = 2_048;

  private static final Set<JWSAlgorithm> RSA =
      Set.of(
          JWSAlgorithm.RS256,
          JWSAlgorithm.RS384,
          JWSAlgorithm.RS512,
          JWSAlgorithm.PS256,
          JWSAlgorithm.PS384,
          JWSAlgorithm.PS512);

  /** What ECDSA and the curve of a key allow, see RFC 7518, 3.4. */
  private static final Set<JWSAlgorithm> ECDSA =
      Set.of(JWSAlgorithm.ES256, JWSAlgorithm.ES384, JWSAlgorithm.ES512);

  /**
   * One of them.
   *
   * @param id null: it has none
   * @param thumbprint says which key it is, see RFC 7638
   * @param algorithms that it may be used for
   */
  record Key(String id, String thumbprint, Set<JWSAlgorithm> algorithms, JWSVerifier verifier) {}

  private final List<Key> keys;

  private IssuerKeys(List<Key> keys) {
    this.keys = keys;
  }

  /** Whether tokens may be signed with an algorithm. */
  static boolean allows(JWSAlgorithm algorithm) {
    return RSA.contains(algorithm) || ECDSA.contains(algorithm);
  }

  /**
   * Reads a JSON Web Key Set. It leaves out keys that no token may be signed with.
   *
   * @throws RefusedException INVALID if no key is left
   */
  static IssuerKeys parse(String text) {
    List<Key> keys = new ArrayList<>();
    try {
      for (JWK jwk : JWKSet.parse(text).getKeys()) {
        Key key = key(jwk);
        if (key != null && keys.size() < KEYS_MAX) {
          keys.add(key);
        }
      }
    } catch (ParseException e) {
      throw Refusal.INVALID.error("it is no JSON Web Key Set: %s", e.getMessage());
    }
    if (keys.isEmpty()) {
      throw Refusal.INVALID.error(
          "it has no key for %s, RS384, RS512, PS256, PS384, PS512, ES256, ES384 or ES512",
          JWSAlgorithm.RS256);
    }
    return new IssuerKeys(List.copyOf(keys));
  }

  /** Null: no token may be signed with it. */
  private static Key key(JWK jwk) {
    if (jwk.getKeyUse() != null && jwk.getKeyUse() != KeyUse.SIGNATURE) {
      return null;
    }
    try {
      JWSVerifier verifier;
      Set<JWSAlgorithm> algorithms;
      if (jwk instanceof RSAKey rsa && rsa.size() >= RSA_BITS_MIN) {
        verifier = new RSASSAVerifier(rsa.toRSAPublicKey());
        algorithms = RSA;
      } else if (jwk instanceof ECKey ec) {
        verifier = new ECDSAVerifier(ec.toECPublicKey());
        algorithms = verifier.supportedJWSAlgorithms();
      } else {
        return null;
      }
      if (jwk.getAlgorithm() != null) {
        algorithms =
            algorithms.contains(JWSAlgorithm.parse(jwk.getAlgorithm().getName()))
                ? Set.of(JWSAlgorithm.parse(jwk.getAlgorithm().getName()))
                : Set.of();
      }
      return algorithms.stream().anyMatch(IssuerKeys::allows)
          ? new Key(
              jwk.getKeyID(), jwk.computeThumbprint().toString(), Set.copyOf(algorithms), verifier)
          : null;
    } catch (JOSEException e) {
      return null;
    }
  }

  /**
   * The key that a token must be signed with; null: there is none. Whoever names no key means the
   * only one that fits.
   */
  Key of(JWSHeader header) {
    Key found = null;
    for (Key each : keys) {
      boolean named = header.getKeyID() == null || header.getKeyID().equals(each.id());
      if (named && each.algorithms().contains(header.getAlgorithm())) {
        if (found != null) {
          return null;
        }
        found = each;
      }
    }
    return found;
  }

  boolean has(String thumbprint) {
    return keys.stream().anyMatch(each -> each.thumbprint().equals(thumbprint));
  }

  /** Whether they are the same, with the same names. */
  boolean isSame(IssuerKeys other) {
    return shown().equals(other.shown());
  }

  private List<String> shown() {
    return keys.stream().map(key -> key.id() + " " + key.thumbprint() + key.algorithms()).toList();
  }

  int count() {
    return keys.size();
  }
}
