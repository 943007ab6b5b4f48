package dev.evenkeel.arch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.ProducerVerticle;
import dev.evenkeel.broker.BrokerVerticle;
import dev.evenkeel.broker.serve.ServeOptions;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.DispatcherVerticle;
import dev.evenkeel.gateway.GatewayVerticle;
import dev.evenkeel.gateway.http.HttpLimits;
import dev.evenkeel.gateway.http.WebVerticle;
import dev.evenkeel.gateway.session.SessionLimits;
import dev.evenkeel.gateway.session.SessionVerticle;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Verticles take the keys that the page about them lists, and no others. */
class VerticlesPageTest {
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");
  private static final Pattern DEFAULT =
      Pattern.compile("^\\| `(\\w+)` \\| `?(-?\\d+|true|false)`? \\|");

  private final String page;

  VerticlesPageTest() throws IOException {
    page = Files.readString(Path.of("src/site/markdown/verticles.md"));
  }

  /** Names in the first column of the table under a heading. */
  private Set<String> listed(String verticle) {
    int from = page.indexOf("\n## " + verticle + "\n");
    assertThat(from).as(verticle).isPositive();
    int to = page.indexOf("\n## ", from + 1);
    Set<String> names = new TreeSet<>();
    for (String line : page.substring(from, to).split("\n")) {
      if (line.startsWith("| `")) {
        Matcher name = NAME.matcher(line.substring(0, line.indexOf(" |", 1)));
        while (name.find()) {
          names.add(name.group(1));
        }
      }
    }
    return names;
  }

  /** The second column of a row, if it is a number, true or false. */
  private static Map<String, String> defaults(String text) {
    Map<String, String> defaults = new TreeMap<>();
    for (String line : text.split("\n")) {
      Matcher row = DEFAULT.matcher(line);
      if (row.find()) {
        defaults.put(row.group(1), row.group(2));
      }
    }
    return defaults;
  }

  /** What the code uses if nothing is set, by the names of components or getters. */
  private static Map<String, String> used(Object options) throws ReflectiveOperationException {
    Map<String, String> used = new TreeMap<>();
    for (Method method : options.getClass().getMethods()) {
      String name = method.getName().replaceFirst("^(get|is)(?=[A-Z])", "");
      boolean value =
          method.getReturnType() == boolean.class
              || method.getReturnType() == int.class
              || method.getReturnType() == long.class;
      if (value && method.getParameterCount() == 0) {
        String key = name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
        method.setAccessible(true);
        used.put(key, String.valueOf(method.invoke(options)));
      }
    }
    return used;
  }

  private void assertDefaults(String verticle, int atLeast, Object options)
      throws ReflectiveOperationException {
    int from = page.indexOf("\n## " + verticle + "\n");
    assertDefaultsOf(page.substring(from, page.indexOf("\n## ", from + 1)), atLeast, options);
  }

  private static void assertDefaultsOf(String text, int atLeast, Object options)
      throws ReflectiveOperationException {
    Map<String, String> used = used(options);
    Map<String, String> listed = defaults(text);
    listed.keySet().retainAll(used.keySet());
    used.keySet().retainAll(listed.keySet());
    assertThat(listed).isEqualTo(used).hasSizeGreaterThanOrEqualTo(atLeast);
  }

  private static String application(String name) throws IOException {
    return Files.readString(Path.of("src/site/markdown/applications", name));
  }

  /** A default that changes in the code changes on the page. */
  @Test
  void thePagesHaveTheDefaultsOfTheCode() throws ReflectiveOperationException, IOException {
    assertDefaults("BrokerVerticle", 5, ServeOptions.DEFAULT);
    assertDefaults("DispatcherVerticle", 5, DispatcherOptions.fromJson(new JsonObject()));
    assertDefaults("WebVerticle", 4, HttpLimits.DEFAULT);
    assertDefaults("SessionVerticle", 11, SessionLimits.DEFAULT);
    assertDefaults("ConsumerVerticle", 15, new ConsumerOptions());
    assertDefaultsOf(application("consume.md"), 10, new ConsumerOptions());
    assertDefaultsOf(application("produce.md"), 7, new ProducerOptions());
    assertDefaultsOf(application("spool.md"), 3, new ProducerOptions());
    assertDefaultsOf(application("connect.md"), 1, new ClientOptions());
  }

  private static Set<String> with(Collection<String> keys, String... more) {
    Set<String> all = new HashSet<>(keys);
    all.addAll(List.of(more));
    return all;
  }

  @Test
  void anUnknownKeyIsRefusedWithTheNearest() {
    assertRefused("paralel", "consumer option", "parallel", ConsumerOptions::new);
    assertRefused("gruop", "consumer option", "group", ConsumerOptions::new);
    assertRefused("batchByte", "producer option", "batchBytes", ProducerOptions::new);
    assertRefused("seed", "client option", "seeds", ClientOptions::new);
    assertRefused("tickMilli", "configuration key", "tickMillis", DispatcherOptions::fromJson);
    assertThatThrownBy(() -> new ConsumerOptions(new JsonObject().put("colour", "red")))
        .hasMessageContaining("unknown consumer option 'colour': known are group, member, topics");
  }

  private static void assertRefused(
      String key, String kind, String nearest, Consumer<JsonObject> reader) {
    assertThatThrownBy(() -> reader.accept(new JsonObject().put(key, 1)))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.INVALID))
        .hasMessageContaining(
            "unknown " + kind + " '" + key + "': did you mean '" + nearest + "'?");
  }

  @Test
  void aVerticleRefusesAKeyThatItDoesNotKnow() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      JsonObject config =
          new JsonObject()
              .put("handler", Object.class.getName())
              .put("address", "in")
              .put("hots", 1);
      List<Supplier<Deployable>> verticles =
          List.of(
              BrokerVerticle::new,
              DispatcherVerticle::new,
              GatewayVerticle::new,
              WebVerticle::new,
              SessionVerticle::new,
              ProducerVerticle::new);
      for (Supplier<Deployable> each : verticles) {
        DeploymentOptions options = new DeploymentOptions().setConfig(config);
        Throwable failure =
            vertx
                .deployVerticle(each.get(), options)
                .map((Throwable) null)
                .otherwise(cause -> cause)
                .toCompletionStage()
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        assertThat(failure).as("%s", each.get().getClass()).isInstanceOf(RefusedException.class);
        assertThat(failure.getMessage()).contains("unknown ");
      }
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void everyKeyHasItsRow() {
    assertThat(listed("BrokerVerticle")).isEqualTo(with(BrokerVerticle.KEYS));
    assertThat(listed("DispatcherVerticle")).isEqualTo(with(DispatcherOptions.keys()));
    assertThat(listed("WebVerticle")).isEqualTo(with(WebVerticle.KEYS));
    assertThat(listed("SessionVerticle")).isEqualTo(with(SessionVerticle.KEYS));
    assertThat(listed("ConsumerVerticle"))
        .isEqualTo(with(new ConsumerOptions().toJson().fieldNames(), "handler"));
    assertThat(listed("ProducerVerticle"))
        .isEqualTo(with(new ProducerOptions().toJson().fieldNames(), "address"));
  }
}
