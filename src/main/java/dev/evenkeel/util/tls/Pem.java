package dev.evenkeel.util.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads PEM files: certificates, and private keys as PKCS #8, PKCS #1 (RSA) or SEC 1 (EC). */
final class Pem {
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");

  /** No set of certificates is nearly as long. */
  private static final long BYTES_MAX = 4L << 20;

  private static final int SEQUENCE = 0x30;
  private static final int OCTET_STRING = 0x04;
  private static final byte[] VERSION_0 = {0x02, 1, 0};

  private Pem() {}

  private record Block(String label, byte[] der) {}

  private static List<Block> blocks(Path file) throws TlsException {
    String text;
    try {
      if (Files.size(file) > BYTES_MAX) {
        throw new TlsException(file + " is no PEM file: it has more than 4 MiB");
      }
      // Any bytes make a text of this.
      text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    } catch (NoSuchFileException e) {
      throw new TlsException("there is no file " + file, e);
    } catch (IOException e) {
      throw new TlsException("cannot read " + file + ": " + e.getMessage(), e);
    }
    List<Block> blocks = new ArrayList<>();
    Matcher matcher = BLOCK.matcher(text);
    while (matcher.find()) {
      try {
        blocks.add(new Block(matcher.group(1), Base64.getMimeDecoder().decode(matcher.group(2))));
      } catch (IllegalArgumentException e) {
        throw new TlsException(file + " is damaged: " + e.getMessage(), e);
      }
    }
    return blocks;
  }

  /** All certificates of a file, at least one. */
  static List<X509Certificate> certificates(Path file) throws TlsException {
    List<X509Certificate> certificates = new ArrayList<>();
    for (Block block : blocks(file)) {
      if (block.label.equals("CERTIFICATE")) {
        try {
          certificates.add(
              (X509Certificate)
                  CertificateFactory.getInstance("X.509")
                      .generateCertificate(new ByteArrayInputStream(block.der)));
        } catch (CertificateException e) {
          throw new TlsException(file + " has a damaged certificate: " + e.getMessage(), e);
        }
      }
    }
    if (certificates.isEmpty()) {
      throw new TlsException(file + " has no certificate: it must be a PEM file with one");
    }
    return certificates;
  }

  /** The private key of a certificate. */
  static PrivateKey key(Path file, X509Certificate certificate) throws TlsException {
    for (Block block : blocks(file)) {
      switch (block.label) {
        case "PRIVATE KEY":
          return key(file, certificate, block.der);
        case "RSA PRIVATE KEY", "EC PRIVATE KEY":
          return key(file, certificate, wrapped(certificate, block.der));
        case "ENCRYPTED PRIVATE KEY":
          throw new TlsException(
              file + " is encrypted: give an unencrypted key, and let only its user read the file");
        default:
      }
    }
    throw new TlsException(file + " has no private key: it must be a PEM file with one");
  }

  private static PrivateKey key(Path file, X509Certificate certificate, byte[] pkcs8)
      throws TlsException {
    String algorithm = certificate.getPublicKey().getAlgorithm();
    try {
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
    } catch (GeneralSecurityException e) {
      throw new TlsException(
          file + " has no " + algorithm + " key, as its certificate wants: " + e.getMessage(), e);
    }
  }

  /**
   * The PKCS #8 form (RFC 5958) of a key in its older form. It adds which algorithm the key is for,
   * which the certificate says too.
   */
  private static byte[] wrapped(X509Certificate certificate, byte[] key) {
    byte[] publicKey = certificate.getPublicKey().getEncoded();
    // SEQUENCE { algorithm SEQUENCE {...}, key BIT STRING }
    int algorithmAt = contentAt(publicKey, 0);
    int algorithmEnd = contentAt(publicKey, algorithmAt) + length(publicKey, algorithmAt);
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.writeBytes(VERSION_0);
    content.write(publicKey, algorithmAt, algorithmEnd - algorithmAt);
    content.writeBytes(element(OCTET_STRING, key));
    return element(SEQUENCE, content.toByteArray());
  }

  private static int contentAt(byte[] der, int at) {
    return der[at + 1] >= 0 ? at + 2 : at + 2 + (der[at + 1] & 0x7f);
  }

  private static int length(byte[] der, int at) {
    if (der[at + 1] >= 0) {
      return der[at + 1];
    }
    int length = 0;
    for (int i = at + 2; i < contentAt(der, at); i++) {
      length = length << 8 | der[i] & 0xff;
    }
    return length;
  }

  private static byte[] element(int tag, byte[] content) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    if (content.length < 0x80) {
      out.write(content.length);
    } else {
      out.write(0x84);
      for (int shift = 24; shift >= 0; shift -= 8) {
        out.write(content.length >> shift);
      }
    }
    out.writeBytes(content);
    return out.toByteArray();
  }
}
