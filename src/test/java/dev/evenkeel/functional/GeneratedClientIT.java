package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * OpenAPI Generator makes a Java client of {@code /openapi.json}; the client compiles, and works
 * with a node. The profile {@code full} puts the generator into the directory.
 */
@Tag("full")
class GeneratedClientIT {
  private static final Path TOOLS = Path.of("target/openapi-generator").toAbsolutePath();

  /** It brings what the client needs, but for annotations. */
  private static final Path GENERATOR = TOOLS.resolve("openapi-generator-cli.jar");

  private static final Path ANNOTATIONS = TOOLS.resolve("jakarta.annotation-api.jar");
  private static final String PACKAGE = "org.openapitools.client.";

  @TempDir Path directory;

  private void generate(Path document) throws Exception {
    List<String> command =
        List.of(
            Jar.JAVA.toString(),
            "-jar",
            GENERATOR.toString(),
            "generate",
            "--generator-name=java",
            "--library=native",
            "--input-spec=" + document,
            "--output=" + directory.resolve("client"),
            "--additional-properties=openApiNullable=false,useJakartaEe=true");
    Path log = directory.resolve("generate.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(log)).isZero();
  }

  /** Compiles what was generated; gives the classes. */
  private ClassLoader compile() throws Exception {
    Path classes = Files.createDirectory(directory.resolve("classes"));
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-nowarn",
                "-Xlint:none",
                "-cp",
                GENERATOR + System.getProperty("path.separator") + ANNOTATIONS,
                "-d",
                classes.toString()));
    try (Stream<Path> sources = Files.walk(directory.resolve("client/src/main/java"))) {
      sources.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(arguments::add);
    }
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new));
    assertThat(status).as("exit status of javac").isZero();
    // Not with the classes of the tests: the generator has other versions of some libraries.
    return new URLClassLoader(
        new URL[] {classes.toUri().toURL(), GENERATOR.toUri().toURL(), ANNOTATIONS.toUri().toURL()},
        ClassLoader.getPlatformClassLoader());
  }

  @Test
  void aGeneratedClientCompilesAndWorksWithANode() throws Exception {
    try (Node node = new Node(directory.resolve("node")).start()) {
      Path document = directory.resolve("openapi.json");
      Files.writeString(document, node.get("/openapi.json").body());
      generate(document);
      ClassLoader classes = compile();
      Object client = classes.loadClass(PACKAGE + "ApiClient").getConstructor().newInstance();
      call(client, "updateBaseUri", "http://127.0.0.1:" + node.httpPort);
      Object topics = api(classes, "TopicsApi", client);
      Object messages = api(classes, "MessagesApi", client);

      Object topic = model(classes, "NewTopic");
      call(topic, "setName", "orders");
      call(topic, "setShards", 2);
      assertThat(call(call(topics, "createTopic", topic), "getName")).isEqualTo("orders");

      Object message = model(classes, "NewMessage");
      call(message, "setKey", "customer-7");
      call(message, "setPayload", "hello");
      Object one = call(messages, "produce", "orders", message, null, "all", "once");
      assertThat(one.toString()).contains("offset=0");
      Object many =
          call(messages, "produce", "orders", List.of(message, message), null, null, null);
      assertThat(many.toString()).contains("offset=1", "offset=2");

      List<?> all = (List<?>) call(topics, "listTopics");
      assertThat(all).hasSize(1);
      assertThat(call(all.get(0), "getMessages")).isEqualTo(3L);
    }
  }

  private static Object model(ClassLoader classes, String name) throws Exception {
    return classes.loadClass(PACKAGE + "model." + name).getConstructor().newInstance();
  }

  private static Object api(ClassLoader classes, String name, Object client) throws Exception {
    return classes
        .loadClass(PACKAGE + "api." + name)
        .getConstructor(client.getClass())
        .newInstance(client);
  }

  private static Object call(Object target, String method, Object... arguments) throws Exception {
    return Stream.of(target.getClass().getMethods())
        .filter(each -> each.getName().equals(method))
        .filter(each -> each.getParameterCount() == arguments.length)
        .filter(each -> !List.of(each.getParameterTypes()).contains(java.util.Map.class))
        .findFirst()
        .orElseThrow()
        .invoke(target, arguments);
  }
}
