package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestCertificates;
import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A node with TLS and users, each with a token. */
public final class NodeWithUsers implements AutoCloseable {
  private static final Path CLIENTS = TestCertificates.OURS.resolve("clients");

  /** The authority that signs the node's certificate. */
  public static final String CA = CLIENTS.resolve("ca.crt").toString();

  private final Path directory;
  private final Path users;
  private List<String> jvmOptions;
  private Node node;

  /**
   * @param directory an empty one
   */
  public NodeWithUsers(Path directory) {
    this.directory = directory;
    users = directory.resolve("users.json");
  }

  /**
   * @param may permissions, as the command 'user add' takes them
   */
  public NodeWithUsers user(String name, String may) throws Exception {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    assertThat(CommandInJvm.run(out, err, "user", "add", users.toString(), name, "--may", may))
        .as(err.toString())
        .isZero();
    Files.writeString(directory.resolve(name), out.toString());
    return this;
  }

  /** From now on its JVM is started with these options, and no others. */
  public NodeWithUsers inJvm(List<String> options) {
    jvmOptions = options;
    return this;
  }

  public NodeWithUsers start() throws Exception {
    node =
        new Node(directory.resolve("node"))
            .with("--tls", CLIENTS.toString(), "--users", users.toString())
            .inJvm(jvmOptions)
            .start();
    return this;
  }

  /** Of HTTP. */
  public String url() {
    return node.url().replace("http:", "https:");
  }

  public Node node() {
    return node;
  }

  /** Where the token of a user is. */
  public Path tokenFile(String user) {
    return directory.resolve(user);
  }

  /** Trusts the node. */
  public HttpClient http() throws Exception {
    return HttpClient.newBuilder()
        .sslContext(TlsIdentity.open(TlsFiles.trusting(Path.of(CA))).context())
        .build();
  }

  public String token(String user) throws IOException {
    return Files.readString(directory.resolve(user)).strip();
  }

  /** For a connection of a user. */
  public ClientOptions options(String user) {
    return new ClientOptions()
        .setSeeds(List.of(node.cluster()))
        .setCa(CA)
        .setTokenFile(directory.resolve(user).toString());
  }

  /** The lines of the metrics of users' shares, as a user sees them. */
  Stream<String> metrics(String user) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url() + "/metrics"))
              .header("authorization", "Bearer " + token(user))
              .build();
      return http()
          .send(request, HttpResponse.BodyHandlers.ofString())
          .body()
          .lines()
          .filter(line -> line.startsWith("evenkeel_share_held{"));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    node.process().close();
  }
}
