package dev.evenkeel.util.tls;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * A key, its certificate and the authorities that others are checked against. The managers that it
 * gives out use the files' present content for each new connection; call {@link #look} to take up
 * changes. Safe for use from any thread.
 */
public final class TlsIdentity {
  static {
    // The JDK reads it when its TLS is used first. Whoever asks for new keys of an open connection
    // again and again costs the other side more than it pays.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
  }

  private final TlsFiles files;
  private final X509ExtendedKeyManager keyManager = new CurrentKey();
  private final X509ExtendedTrustManager trustManager = new CurrentTrust();
  private volatile Content content;
  private volatile Content former;
  private volatile String problem;
  private volatile BiConsumer<String, String> refused = (subject, why) -> {};
  private byte[] seen;
  private int reads;

  /**
   * @param alias of no other content; null if there is no key
   */
  private record Content(
      String alias,
      X509Certificate[] chain,
      PrivateKey key,
      X509ExtendedTrustManager trustManager) {}

  /** Whom certificates of others must name; null: anybody. */
  private volatile Set<String> others;

  private TlsIdentity(TlsFiles files, Set<String> others) {
    this.files = files;
    this.others = others;
  }

  /**
   * Reads the files.
   *
   * @throws TlsException if one cannot be used
   */
  public static TlsIdentity open(TlsFiles files) throws TlsException {
    return open(files, null);
  }

  /**
   * Reads the files.
   *
   * @param others certificates of others must name one of these; null: anybody
   * @throws TlsException if a file cannot be used
   */
  public static TlsIdentity open(TlsFiles files, Set<String> others) throws TlsException {
    TlsIdentity identity = new TlsIdentity(files, others);
    identity.seen = identity.digest();
    identity.content = identity.read();
    return identity;
  }

  /**
   * Takes up the files if they have changed since the last look. If the new ones cannot be used,
   * the old ones stay in force, and {@link #problem} says why. Blocks.
   *
   * @return whether new files are in force now
   */
  public synchronized boolean look() {
    try {
      byte[] now = digest();
      if (MessageDigest.isEqual(now, seen)) {
        return false;
      }
      Content next = read();
      former = content;
      content = next;
      // Not before: what cannot be used is tried again at each look. It may be half written.
      seen = now;
      problem = null;
      return true;
    } catch (TlsException e) {
      problem = e.getMessage();
      return false;
    }
  }

  public TlsFiles files() {
    return files;
  }

  /** From now on certificates of others must name one of these. Connections that exist go on. */
  public void allow(Set<String> names) {
    others = Set.copyOf(names);
  }

  /**
   * @param handler from now on gets the subject of each certificate that is refused, and why. On
   *     any thread; it must not block
   */
  public void onRefused(BiConsumer<String, String> handler) {
    refused = handler;
  }

  /** Why the files as they are now cannot be used; null: they are in force. */
  public String problem() {
    return problem;
  }

  /** The certificate in force, or null if there is none. */
  public X509Certificate certificate() {
    X509Certificate[] chain = content.chain;
    return chain == null ? null : chain[0];
  }

  /** When the certificate in force expires; {@link Instant#MAX} if there is none. */
  public Instant expires() {
    X509Certificate certificate = certificate();
    return certificate == null ? Instant.MAX : certificate.getNotAfter().toInstant();
  }

  public X509ExtendedKeyManager keyManager() {
    return keyManager;
  }

  public X509ExtendedTrustManager trustManager() {
    return trustManager;
  }

  /** A context for TLS engines that use what is in force when they begin. */
  public SSLContext context() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(new KeyManager[] {keyManager}, new TrustManager[] {trustManager}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no TLS", e);
    }
  }

  private byte[] digest() throws TlsException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Path file : new Path[] {files.certificate(), files.key(), files.authorities()}) {
        if (file != null) {
          digest.update(file.toString().getBytes(StandardCharsets.UTF_8));
          digest.update(Files.exists(file) ? Files.readAllBytes(file) : new byte[0]);
        }
      }
      return digest.digest();
    } catch (IOException e) {
      throw new TlsException("cannot read " + e.getMessage(), e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no SHA-256", e);
    }
  }

  private Content read() throws TlsException {
    X509ExtendedTrustManager trust = trust(Pem.certificates(files.authorities()));
    if (files.certificate() == null) {
      return new Content(null, null, null, trust);
    }
    List<X509Certificate> chain = Pem.certificates(files.certificate());
    PrivateKey key = Pem.key(files.key(), chain.get(0));
    checkPair(key, chain.get(0));
    return new Content("own-" + ++reads, chain.toArray(new X509Certificate[0]), key, trust);
  }

  /** A key of another certificate would only show in each handshake. */
  private void checkPair(PrivateKey key, X509Certificate certificate) throws TlsException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> key.getAlgorithm();
        };
    byte[] text = {1, 2, 3};
    boolean fits;
    try {
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(text);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(text);
      fits = signature.verify(signed);
    } catch (GeneralSecurityException e) {
      throw new TlsException(files.key() + " cannot be used: " + e.getMessage(), e);
    }
    if (!fits) {
      throw new TlsException(
          files.key() + " is not the key of the certificate in " + files.certificate());
    }
  }

  private X509ExtendedTrustManager trust(List<X509Certificate> authorities) throws TlsException {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      for (int i = 0; i < authorities.size(); i++) {
        store.setCertificateEntry("ca" + i, authorities.get(i));
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
    } catch (GeneralSecurityException | IOException e) {
      throw new TlsException(files.authorities() + " cannot be used: " + e.getMessage(), e);
    }
  }

  /**
   * The key in force, or none. A handshake that began with the former one goes on with it: each has
   * an alias of its own.
   */
  private final class CurrentKey extends X509ExtendedKeyManager {
    private String alias() {
      return content.alias;
    }

    private String[] aliases() {
      String alias = content.alias;
      return alias == null ? null : new String[] {alias};
    }

    private Content of(String alias) {
      Content now = content;
      Content before = former;
      return before != null && alias.equals(before.alias) ? before : now;
    }

    @Override
    public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
      return alias();
    }

    @Override
    public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
      return forType(type);
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
      return alias();
    }

    @Override
    public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
      return forType(type);
    }

    /** The engine asks for each type of key that both sides could use. */
    private String forType(String type) {
      Content now = content;
      return now.key != null && type.startsWith(now.key.getAlgorithm()) ? now.alias : null;
    }

    @Override
    public String[] getClientAliases(String type, Principal[] issuers) {
      return aliases();
    }

    @Override
    public String[] getServerAliases(String type, Principal[] issuers) {
      return aliases();
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return of(alias).chain;
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return of(alias).key;
    }
  }

  private void checkName(X509Certificate[] chain) throws CertificateException {
    Set<String> allowed = others;
    if (allowed != null
        && allowed.stream().noneMatch(each -> CertificateNames.name(chain[0], each))) {
      throw new CertificateException(
          "the certificate is for "
              + chain[0].getSubjectX500Principal()
              + ", and not for a node; 'evenkeel cluster admit NODE' lets a new one in");
    }
  }

  private interface Check {
    void by(X509ExtendedTrustManager manager) throws CertificateException;
  }

  private void check(X509Certificate[] chain, Check check) throws CertificateException {
    try {
      check.by(content.trustManager);
      checkName(chain);
    } catch (CertificateException e) {
      CertificateException why = inTime(chain, e);
      String subject = chain.length == 0 ? "nobody" : chain[0].getSubjectX500Principal().getName();
      refused.accept(subject, TlsFailures.reason(why));
      throw why;
    }
  }

  /** The failure, or that a certificate is not valid now. The JDK does not say whose it is. */
  private static CertificateException inTime(X509Certificate[] chain, CertificateException why) {
    Instant now = Instant.now();
    for (X509Certificate each : chain) {
      String of = "the certificate for " + each.getSubjectX500Principal().getName();
      Instant until = each.getNotAfter().toInstant();
      Instant from = each.getNotBefore().toInstant();
      if (until.isBefore(now)) {
        return new CertificateExpiredException(of + " expired on " + until);
      }
      if (from.isAfter(now)) {
        return new CertificateNotYetValidException(of + " is not valid before " + from);
      }
    }
    return why;
  }

  /** The authorities in force. */
  private final class CurrentTrust extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain, manager -> manager.checkClientTrusted(chain, type, socket));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
        throws CertificateException {
      check(chain, manager -> manager.checkServerTrusted(chain, type, socket));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain, manager -> manager.checkClientTrusted(chain, type, engine));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
        throws CertificateException {
      check(chain, manager -> manager.checkServerTrusted(chain, type, engine));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain, manager -> manager.checkClientTrusted(chain, type));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      check(chain, manager -> manager.checkServerTrusted(chain, type));
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return content.trustManager.getAcceptedIssuers();
    }
  }
}
