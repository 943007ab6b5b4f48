package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestCertificates;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.cli.OddCertificates;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.json.JsonObject;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;

/** Three nodes with TLS on all ports, and with users. */
final class SecuredTrio implements AutoCloseable {
  private static final Path CLIENTS = TestCertificates.OURS.resolve("clients");
  private static final String CA = CLIENTS.resolve("ca.crt").toString();

  final List<Node> nodes;

  /** Of each node and of others, see {@link OddCertificates}. */
  final Path certificates;

  private final Path directory;
  private final Path users;
  private final Trio trio;
  private final SSLContext trusting;
  private final HttpClient http;

  SecuredTrio(Path directory, List<String> jvmOptions) throws Exception {
    this.directory = directory;
    certificates = directory.resolve("certificates");
    OddCertificates.write(certificates);
    users = directory.resolve("users.json");
    user("operator", "view:*,admin:*");
    trusting = TlsIdentity.open(TlsFiles.trusting(Path.of(CA))).context();
    http = HttpClient.newBuilder().sslContext(trusting).build();
    nodes =
        Stream.of("n1", "n2", "n3")
            .map(id -> new Node(directory.resolve(id)).inJvm(jvmOptions))
            .toList();
    trio = new Trio(directory, nodes, "--tls", CLIENTS.toString(), "--users", users.toString());
    nodes.forEach(node -> node.with("--peer-tls", certificates.resolve(Trio.id(node)).toString()));
  }

  SecuredTrio start() {
    trio.start();
    return this;
  }

  /** Adds a user. Nodes that run know it within seconds. */
  void user(String name, String may) throws Exception {
    StringWriter token = new StringWriter();
    StringWriter err = new StringWriter();
    int status = CommandInJvm.run(token, err, "user", "add", users.toString(), name, "--may", may);
    assertThat(status).as(err.toString()).isZero();
    Files.writeString(directory.resolve(name + ".token"), token.toString());
  }

  String token(String user) throws Exception {
    return Files.readString(directory.resolve(user + ".token")).strip();
  }

  /** How a program of this user connects. */
  ClientOptions options(String user) {
    return new ClientOptions()
        .setSeeds(nodes.stream().map(Node::cluster).toList())
        .setCa(CA)
        .setTokenFile(directory.resolve(user + ".token").toString());
  }

  Door client(Node node) {
    return new Door(node.port, trusting);
  }

  Door http(Node node) {
    return new Door(node.httpPort, trusting);
  }

  HttpResponse<String> get(Node node, String path) throws Exception {
    return send(node, path, null);
  }

  void createTopic(String name, int shards) throws Exception {
    HttpResponse<String> answer =
        send(nodes.get(0), "/api/topics", new JsonObject().put("name", name).put("shards", shards));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
  }

  /** The number of a topic in the protocol of clients. */
  int idOf(String topic) throws Exception {
    var hello =
        new Hello(List.of(1), "s-" + "0".repeat(32), "evenkeel", "test", token("operator"), 0);
    try (BadClient client = BadClient.welcomed(client(nodes.get(0)), hello)) {
      return client.idOf(topic);
    }
  }

  private HttpResponse<String> send(Node node, String path, JsonObject body) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(node.url().replace("http:", "https:") + path))
            .header("authorization", "Bearer " + token("operator"));
    if (body != null) {
      request
          .header("content-type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(body.encode()));
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Override
  public void close() {
    nodes.forEach(Node::close);
  }
}
