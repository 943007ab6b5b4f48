package dev.evenkeel.util.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.TestCertificates;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsIdentityTest {
  private static final Path N1 = TestCertificates.OURS.resolve("nodes/n1");
  private static final Path N2 = TestCertificates.OURS.resolve("nodes/n2");
  private static final Path FOREIGN = TestCertificates.FOREIGN.resolve("nodes/n1");

  @TempDir private Path directory;

  @BeforeEach
  void copy() throws IOException {
    copy(N1);
  }

  private void copy(Path from) throws IOException {
    for (String name : new String[] {"tls.crt", "tls.key", "ca.crt"}) {
      copy(from, name);
    }
  }

  private void copy(Path from, String name) throws IOException {
    Files.copy(from.resolve(name), directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
  }

  private TlsIdentity open() throws TlsException {
    return TlsIdentity.open(TlsFiles.in(directory));
  }

  private static String name(X509Certificate certificate) {
    return certificate.getSubjectX500Principal().getName();
  }

  @Test
  void twoOfOneAuthorityTrustEachOther() throws Exception {
    assertThat(name(open().certificate())).isEqualTo("CN=n1");
    assertThat(open().expires()).isAfter(Instant.now().plus(Duration.ofDays(365)));
    handshake(open(), TlsIdentity.open(TlsFiles.in(N2)));
  }

  @Test
  void whoIsOfAnotherAuthorityIsRefused() throws Exception {
    TlsIdentity foreign = TlsIdentity.open(TlsFiles.in(FOREIGN));
    TlsIdentity ours = open();
    assertThatThrownBy(() -> handshake(foreign, ours)).isInstanceOf(SSLException.class);
    assertThatThrownBy(() -> handshake(ours, foreign)).isInstanceOf(SSLException.class);
    // One that only checks the other shows no certificate of its own.
    TlsIdentity nobody = TlsIdentity.open(TlsFiles.trusting(N1.resolve("ca.crt")));
    assertThatThrownBy(() -> handshake(nobody, ours)).isInstanceOf(SSLException.class);
  }

  @Test
  void newFilesCountFromTheNextHandshake() throws Exception {
    TlsIdentity changing = open();
    var foreign = TlsIdentity.open(TlsFiles.in(TestCertificates.FOREIGN.resolve("nodes/n2")));
    assertThat(changing.look()).isFalse();
    copy(FOREIGN);
    assertThat(changing.look()).isTrue();
    assertThat(changing.look()).isFalse();
    handshake(changing, foreign);
    handshake(foreign, changing);
  }

  @Test
  void whatCannotBeUsedLeavesTheOldInForce() throws Exception {
    TlsIdentity changing = open();
    copy(FOREIGN, "tls.crt");
    assertThat(changing.look()).isFalse();
    assertThat(changing.problem()).contains("tls.key is not the key of the certificate in");
    handshake(changing, TlsIdentity.open(TlsFiles.in(N2)));
    copy(FOREIGN, "tls.key");
    copy(FOREIGN, "ca.crt");
    assertThat(changing.look()).isTrue();
    assertThat(changing.problem()).isNull();
  }

  @Test
  void eachMistakeHasItsMessage() throws Exception {
    Files.delete(directory.resolve("ca.crt"));
    assertThatThrownBy(this::open).hasMessage("there is no file " + directory.resolve("ca.crt"));
    Files.writeString(directory.resolve("ca.crt"), "no certificate");
    assertThatThrownBy(this::open).hasMessageContaining("ca.crt has no certificate");
    copy(N1, "ca.crt");
    Files.writeString(
        directory.resolve("tls.crt"),
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    assertThatThrownBy(this::open).hasMessageContaining("tls.crt has a damaged certificate");
    copy(N1, "tls.crt");
    Files.writeString(
        directory.resolve("tls.key"),
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    assertThatThrownBy(this::open).hasMessageContaining("tls.key is encrypted");
    copy(N2, "tls.key");
    assertThatThrownBy(this::open).hasMessageContaining("is not the key of the certificate");
  }

  @Test
  void keysInTheirOlderFormAreReadToo() throws Exception {
    byte[] pkcs8 =
        Base64.getMimeDecoder()
            .decode(
                Files.readString(directory.resolve("tls.key")).replaceAll("-----[A-Z ]+-----", ""));
    // SEQUENCE { version, algorithm, OCTET STRING { the older form } }
    int at = pkcs8.length - 1;
    byte[] older = null;
    for (int i = 0; i < at && older == null; i++) {
      if (pkcs8[i] == 0x04 && (pkcs8[i + 1] & 0xff) == pkcs8.length - i - 2) {
        older = java.util.Arrays.copyOfRange(pkcs8, i + 2, pkcs8.length);
      }
    }
    Files.writeString(
        directory.resolve("tls.key"),
        "-----BEGIN EC PRIVATE KEY-----\n"
            + Base64.getMimeEncoder().encodeToString(older)
            + "\n-----END EC PRIVATE KEY-----\n");
    handshake(open(), TlsIdentity.open(TlsFiles.in(N2)));
  }

  /** A handshake in which both show a certificate, without a network. */
  private static void handshake(TlsIdentity client, TlsIdentity server) throws SSLException {
    SSLEngine one = client.context().createSSLEngine();
    one.setUseClientMode(true);
    SSLEngine two = server.context().createSSLEngine();
    two.setUseClientMode(false);
    two.setNeedClientAuth(true);
    ByteBuffer toTwo = ByteBuffer.allocate(64 << 10);
    ByteBuffer toOne = ByteBuffer.allocate(64 << 10);
    one.beginHandshake();
    two.beginHandshake();
    for (int i = 0; i < 1_000; i++) {
      step(one, toOne, toTwo);
      step(two, toTwo, toOne);
      if (done(one) && done(two) && toOne.position() == 0 && toTwo.position() == 0) {
        return;
      }
    }
    throw new AssertionError("the handshake does not end");
  }

  private static boolean done(SSLEngine engine) {
    return engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING;
  }

  private static void step(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws SSLException {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
    if (engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP) {
      engine.wrap(ByteBuffer.allocate(0), out);
    } else if (in.position() > 0) {
      in.flip();
      engine.unwrap(in, ByteBuffer.allocate(64 << 10));
      in.compact();
    }
  }
}
