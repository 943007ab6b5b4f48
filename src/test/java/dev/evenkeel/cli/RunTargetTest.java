package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.ConsumerVerticle;
import dev.evenkeel.broker.BrokerVerticle;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.gateway.GatewayVerticle;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RunTargetTest {
  private static final RunClassPath OWN = RunClassPath.of(null);

  @TempDir Path directory;

  public static final class Plain extends VerticleBase {}

  public abstract static class Half extends VerticleBase {}

  public static final class Needy extends VerticleBase {
    public Needy(String what) {
      throw new AssertionError(what);
    }
  }

  static final class Hidden extends VerticleBase {}

  public static final class Refusing extends VerticleBase {
    public Refusing() {
      throw new IllegalStateException("not today");
    }
  }

  public static final class Handler implements ConsumerHandler {
    @Override
    public Future<Void> handle(Delivery delivery) {
      return Future.succeededFuture();
    }
  }

  private static JsonObject consumer() {
    return new JsonObject().put("group", "g").put("topics", new JsonArray().add("orders"));
  }

  private static RunTarget target(String argument) {
    return RunTarget.of(argument, new JsonObject().put("a", 1), OWN);
  }

  @Test
  void aClassIsDeployedWithItsConfiguration() throws Exception {
    String name = Plain.class.getName();
    for (String argument : new String[] {name, "java:" + name}) {
      RunTarget target = target(argument);
      assertThat(target.name()).isEqualTo(name);
      assertThat(target.make()).isInstanceOf(Plain.class);
      assertThat(target.config()).isEqualTo(new JsonObject().put("a", 1));
      assertThat(target.needsBus()).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "orders.in, orders.in",
    "orders, orders",
    "address:orders.in, orders.in",
    "address:com.example.Billing, com.example.Billing",
    "address:address:x, address:x",
    "service:7, service:7"
  })
  void anythingElseIsTheAddressOfAConsumer(String argument, String address) {
    JsonObject config = consumer();
    RunTarget target = RunTarget.of(argument, config, OWN);
    assertThat(target.name()).isEqualTo(address);
    assertThat(target.verticle()).isEqualTo(ConsumerVerticle.class);
    assertThat(target.config()).isEqualTo(consumer().put("address", address));
    assertThat(target.needsBus()).isTrue();
    assertThat(config).as("what was given").isEqualTo(consumer());
  }

  /** A class may have a name that is no usual one, as a package of Kotlin or Scala may. */
  @Test
  void aClassThatIsThereIsNoAddress() throws Exception {
    Path classes = directory.resolve("classes");
    Files.createDirectories(classes);
    RunClassPath path = RunClassPath.of(classes.toString());
    assertThat(RunTarget.of("dev.evenkeel.ConsumerVerticle", consumer(), path).config())
        .isEqualTo(consumer());
    assertThatThrownBy(() -> RunTarget.of("java:orders.in", consumer(), path))
        .hasMessage(
            "there is no class 'orders.in': name the jar or directory that has it by --classpath,"
                + " or write address:orders.in if it is an address of the event bus");
  }

  @Test
  void whatIsOfUseOnTheBusAloneNeedsIt() {
    assertThat(target(GatewayVerticle.class.getName()).needsBus()).isTrue();
    assertThat(target("dev.evenkeel.ProducerVerticle").needsBus()).isTrue();
    assertThat(target("dev.evenkeel.ConsumerVerticle").needsBus()).isFalse();
    JsonObject config = consumer().put("address", "a");
    assertThat(RunTarget.of("dev.evenkeel.ConsumerVerticle", config, OWN).needsBus()).isTrue();
  }

  @Test
  void anAddressNeedsAGroupAndTopics() {
    assertThatThrownBy(() -> target("orders.in"))
        .isInstanceOf(CommandFailure.class)
        .hasMessageContaining("no class 'orders.in'")
        .hasMessageContaining("needs 'group' and 'topics'");
    assertThatThrownBy(() -> target("address:orders.in"))
        .hasMessageStartingWith("for a consumer that sends messages to the address 'orders.in'");
    JsonObject other = consumer().put("address", "x");
    assertThatThrownBy(() -> RunTarget.of("orders.in", other, OWN))
        .hasMessageContaining("the address is 'orders.in', and 'x' in the configuration");
    assertThatThrownBy(() -> RunTarget.of("address:", consumer(), OWN))
        .hasMessageContaining("the address is empty");
  }

  @ParameterizedTest
  @ValueSource(strings = {"orders.in", "dev.evenkeel.ConsumerVerticle"})
  void severalInstancesOfAConsumerCannotShareAName(String argument) {
    RunTarget.of(argument, consumer(), OWN).checkInstances(4);
    RunTarget named = RunTarget.of(argument, consumer().put("member", "billing-1"), OWN);
    named.checkInstances(1);
    assertThatThrownBy(() -> named.checkInstances(4))
        .isInstanceOfSatisfying(
            CommandFailure.class,
            failure -> assertThat(failure.exitStatus()).isEqualTo(ExitStatus.WRONG_USAGE))
        .hasMessageContaining("with --instances 4, each instance would be member 'billing-1'")
        .hasMessageContaining("leave 'member' out of --conf FILE");
  }

  /** What a verticle of the user does with it is not known. */
  @Test
  void aMemberInTheConfigurationOfAnotherVerticleIsItsOwnMatter() {
    RunTarget.of(Plain.class.getName(), new JsonObject().put("member", "m"), OWN).checkInstances(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "java.lang.String | is not a verticle: name a class that extends io.vertx",
        "dev.evenkeel.cli.RunTargetTest$Half | a public class that is not abstract",
        "dev.evenkeel.cli.RunTargetTest$Needy | a public constructor without arguments",
        "dev.evenkeel.cli.RunTargetTest$Hidden | make it a public class",
        "dev.evenkeel.cli.RunTargetTest$Handler | run dev.evenkeel.ConsumerVerticle, with \"handler\"",
        "dev.evenkeel.broker.BrokerVerticle | start one with 'evenkeel serve'",
        "ConsumerVerticle | did you mean 'dev.evenkeel.ConsumerVerticle'?",
        "dev.evenkeel.ConsumerVerticl | did you mean 'dev.evenkeel.ConsumerVerticle'?",
        "com.example.Nothing | name the jar or directory that has it by --classpath"
      })
  void saysWhatWouldBeRight(String argument, String expected) {
    assertThatThrownBy(() -> target(argument))
        .isInstanceOfSatisfying(
            CommandFailure.class,
            failure -> assertThat(failure.exitStatus()).isEqualTo(ExitStatus.WRONG_USAGE))
        .hasMessageContaining(expected);
  }

  @Test
  void theFailureOfAConstructorIsTold() {
    assertThatThrownBy(() -> target(Refusing.class.getName()).make()).hasMessage("not today");
  }

  @Test
  void classesComeFromDirectoriesAndJars() throws Exception {
    byte[] code;
    try (var in = RunTargetTest.class.getResourceAsStream("RunTargetTest$Plain.class")) {
      code = in.readAllBytes();
    }
    Path jar = Files.createDirectories(directory.resolve("lib")).resolve("a.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new JarEntry("com/example/Billing.class"));
      out.write(code);
      out.putNextEntry(new JarEntry("com/example/Billing$1.class"));
    }
    Path classes = Files.createDirectories(directory.resolve("classes/org/other"));
    Files.write(classes.resolve("Mail.class"), code);
    Files.writeString(classes.resolve("Mail.txt"), "no class");
    String text =
        directory.resolve("classes") + java.io.File.pathSeparator + directory.resolve("lib/*");
    RunClassPath path = RunClassPath.of(text);
    assertThat(path.names()).containsExactly("org.other.Mail", "com.example.Billing");
    assertThat(path.loader().getResource("com/example/Billing.class")).isNotNull();
    assertThatThrownBy(() -> RunTarget.of("Mial", new JsonObject(), path))
        .hasMessageContaining("there is no class 'Mial'");
    assertThatThrownBy(() -> RunTarget.of("Mail", new JsonObject(), path))
        .hasMessageContaining("did you mean 'org.other.Mail'?");
    assertThatThrownBy(() -> RunTarget.of("com.example.Biling", new JsonObject(), path))
        .hasMessageContaining("did you mean 'com.example.Billing'?");
    // Its bytes are those of a class with another name.
    assertThatThrownBy(() -> RunTarget.of("org.other.Mail", new JsonObject(), path))
        .hasMessageContaining("org.other.Mail cannot be loaded");
  }

  @Test
  void aClassPathThatIsNotThereIsRefused() throws Exception {
    Path text = Files.writeString(directory.resolve("a.txt"), "text");
    assertThatThrownBy(() -> RunClassPath.of(text.toString()))
        .hasMessageContaining("not a jar or a directory");
    assertThatThrownBy(() -> RunClassPath.of(directory.resolve("b.jar").toString()))
        .hasMessageContaining("there is no such file or directory");
    assertThatThrownBy(() -> RunClassPath.of(directory + "/*")).hasMessageContaining("no jar");
    assertThatThrownBy(() -> RunClassPath.of(directory + "/nothing/*"))
        .hasMessageContaining("there is no such directory");
    assertThat(BrokerVerticle.class.getClassLoader()).isSameAs(OWN.loader());
  }
}
