package dev.evenkeel.cli;

import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Certificates for trying things out, made with the JDK's {@code keytool}: an authority for nodes
 * with a certificate for each node, and an authority for applications with one certificate, which
 * all nodes show to applications.
 */
public final class DevCertificates {
  /** Ten years: nobody wants to renew them. */
  private static final int VALID_DAYS = 3_650;

  private static final String AUTHORITY = "authority";
  private static final String LOCAL_NAMES = "dns:localhost,ip:127.0.0.1,ip:0:0:0:0:0:0:0:1";

  private final Path store;
  private final String password;

  DevCertificates(Path store) {
    this.store = store;
    byte[] random = new byte[18];
    new SecureRandom().nextBytes(random);
    password = Base64.getUrlEncoder().encodeToString(random);
  }

  /**
   * Writes {@code clients} and {@code nodes/NODE} below the directory, each with {@code tls.crt},
   * {@code tls.key} and {@code ca.crt}.
   *
   * @param hosts the host of each node, by the node's id
   * @throws IOException if {@code keytool} fails, or a file cannot be written
   */
  public static void write(Path directory, Map<String, String> hosts) throws IOException {
    PrivateFiles.createDirectories(directory);
    Path work = Files.createTempDirectory("evenkeel-certs");
    try {
      DevCertificates nodes = new DevCertificates(work.resolve("nodes.p12"));
      nodes.authority("Evenkeel nodes (development)");
      for (Map.Entry<String, String> node : hosts.entrySet()) {
        nodes.certificate(
            node.getKey(),
            LOCAL_NAMES + name(node.getKey()) + name(node.getValue()),
            directory.resolve("nodes").resolve(node.getKey()));
      }
      DevCertificates clients = new DevCertificates(work.resolve("clients.p12"));
      clients.authority("Evenkeel applications (development)");
      StringBuilder names = new StringBuilder(LOCAL_NAMES);
      hosts.forEach((node, host) -> names.append(name(node)).append(name(host)));
      clients.certificate("evenkeel", names.toString(), directory.resolve("clients"));
    } finally {
      DurableFiles.deleteTree(work);
    }
  }

  private static String name(String host) {
    boolean address = host.indexOf(':') >= 0 || host.matches("[0-9.]+");
    return host.equals("localhost") ? "" : (address ? ",ip:" : ",dns:") + host;
  }

  void authority(String name) throws IOException {
    generate(AUTHORITY, name, List.of("-ext", "bc:c=ca:true", "-ext", "ku:c=keyCertSign,cRLSign"));
  }

  /**
   * Writes a certificate, its key and its authority.
   *
   * @param alternatives its alternative names, as {@code keytool} takes them
   * @param more further options of {@code keytool}
   */
  void certificate(String name, String alternatives, Path directory, String... more)
      throws IOException {
    List<String> options = new ArrayList<>(List.of("-signer", AUTHORITY));
    options.addAll(List.of("-ext", "san=" + alternatives, "-ext", "ku:c=digitalSignature"));
    options.addAll(List.of("-ext", "eku=serverAuth,clientAuth"));
    options.addAll(List.of(more));
    generate(name, name, options);
    try {
      KeyStore keys = KeyStore.getInstance(store.toFile(), password.toCharArray());
      Key key = keys.getKey(name, password.toCharArray());
      PrivateFiles.createDirectories(directory);
      write(directory.resolve("tls.key"), "PRIVATE KEY", key.getEncoded());
      write(directory.resolve("tls.crt"), "CERTIFICATE", keys.getCertificate(name).getEncoded());
      Certificate authority = keys.getCertificate(AUTHORITY);
      write(directory.resolve("ca.crt"), "CERTIFICATE", authority.getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IOException("keytool made something that cannot be read: " + e.getMessage(), e);
    }
  }

  private static void write(Path file, String label, byte[] der) throws IOException {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    String text = "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n".formatted(label, base64);
    DurableFiles.write(file, text.getBytes(StandardCharsets.US_ASCII));
  }

  private void generate(String alias, String name, List<String> options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(
        List.of("-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-storetype", "PKCS12"));
    Map<String, String> values = new LinkedHashMap<>();
    values.put("-alias", alias);
    values.put("-dname", "CN=" + name);
    values.put("-validity", String.valueOf(VALID_DAYS));
    values.put("-keystore", store.toString());
    values.forEach((option, value) -> command.addAll(List.of(option, value)));
    // Not on the command line, which others can see.
    command.addAll(List.of("-storepass:env", "EVENKEEL_STORE_PASSWORD"));
    command.addAll(options);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("EVENKEEL_STORE_PASSWORD", password);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new IOException("cannot run " + command.get(0) + ": this needs a JDK", e);
    }
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IOException("keytool failed: " + output.strip());
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
