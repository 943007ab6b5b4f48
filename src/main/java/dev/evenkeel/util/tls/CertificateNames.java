package dev.evenkeel.util.tls;

import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/** Whom a certificate is for. */
public final class CertificateNames {
  /** Of DNS names among the alternative names of a certificate (RFC 5280). */
  private static final int DNS_NAME = 2;

  private CertificateNames() {}

  /**
   * Whether the certificate that the other side has shown names a node: as its common name, or as a
   * DNS name among its alternative names.
   *
   * @param session null: there is none
   */
  public static boolean name(SSLSession session, String node) {
    if (session == null) {
      return false;
    }
    try {
      Certificate[] chain = session.getPeerCertificates();
      return chain.length > 0
          && chain[0] instanceof X509Certificate certificate
          && name(certificate, node);
    } catch (SSLPeerUnverifiedException e) {
      return false;
    }
  }

  /** Whether a certificate names a node. */
  public static boolean name(X509Certificate certificate, String node) {
    return node.equals(commonName(certificate)) || hasDnsName(certificate, node);
  }

  private static boolean hasDnsName(X509Certificate certificate, String name) {
    try {
      Collection<List<?>> names = certificate.getSubjectAlternativeNames();
      return names != null
          && names.stream()
              .anyMatch(each -> each.get(0).equals(DNS_NAME) && name.equals(each.get(1)));
    } catch (CertificateParsingException e) {
      return false;
    }
  }

  /** The common name of a certificate's subject, or null if it has none. */
  public static String commonName(X509Certificate certificate) {
    try {
      LdapName subject = new LdapName(certificate.getSubjectX500Principal().getName());
      for (Rdn rdn : subject.getRdns()) {
        if (rdn.getType().equalsIgnoreCase("CN")) {
          return String.valueOf(rdn.getValue());
        }
      }
      return null;
    } catch (InvalidNameException e) {
      return null;
    }
  }
}
