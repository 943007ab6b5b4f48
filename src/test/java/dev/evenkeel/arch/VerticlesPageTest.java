package dev.evenkeel.arch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.ProducerVerticle;
import dev.evenkeel.Refused;
import dev.evenkeel.broker.BrokerVerticle;
import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.member.AddressOptions;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.DispatcherVerticle;
import dev.evenkeel.gateway.GatewayVerticle;
import dev.evenkeel.gateway.http.WebOptions;
import dev.evenkeel.gateway.http.WebVerticle;
import dev.evenkeel.gateway.session.SessionOptions;
import dev.evenkeel.gateway.session.SessionVerticle;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.junit5.Checkpoint;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Verticles take the keys that the page about them lists, and no others. */
@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class VerticlesPageTest {
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");

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
    assertRefused("tickMilli", "configuration key", "tickMillis", DispatcherOptions::new);
    assertThatThrownBy(() -> new ConsumerOptions(new JsonObject().put("colour", "red")))
        .hasMessageContaining("unknown consumer option 'colour': known are group, member, topics");
  }

  private static void assertRefused(
      String key, String kind, String nearest, Consumer<JsonObject> reader) {
    Refused.with(
        Refusal.INVALID,
        () -> reader.accept(new JsonObject().put(key, 1)),
        "unknown " + kind + " '" + key + "': did you mean '" + nearest + "'?");
  }

  @Test
  void aVerticleRefusesAKeyThatItDoesNotKnow(Vertx vertx, VertxTestContext test) {
    JsonObject config =
        JsonObject.of("handler", Object.class.getName(), "address", "in", "hots", 1);
    List<Supplier<Deployable>> verticles =
        List.of(
            BrokerVerticle::new,
            DispatcherVerticle::new,
            GatewayVerticle::new,
            WebVerticle::new,
            SessionVerticle::new,
            ProducerVerticle::new);
    Checkpoint refused = test.checkpoint(verticles.size());
    for (Supplier<Deployable> each : verticles) {
      vertx
          .deployVerticle(each.get(), new DeploymentOptions().setConfig(config))
          .onComplete(
              test.failing(
                  failure ->
                      test.verify(
                          () -> {
                            assertThat(failure)
                                .as("%s", each.get().getClass())
                                .isInstanceOf(RefusedException.class)
                                .hasMessageContaining("unknown ");
                            refused.flag();
                          })));
    }
  }

  @Test
  void everyKeyHasItsRow() {
    assertThat(listed("BrokerVerticle")).isEqualTo(with(BrokerOptions.SETTINGS.byKey().keySet()));
    assertThat(listed("DispatcherVerticle"))
        .isEqualTo(with(DispatcherOptions.SETTINGS.byKey().keySet()));
    assertThat(listed("WebVerticle")).isEqualTo(with(WebOptions.SETTINGS.byKey().keySet()));
    assertThat(listed("SessionVerticle")).isEqualTo(with(SessionOptions.SETTINGS.byKey().keySet()));
    assertThat(listed("ConsumerVerticle"))
        .isEqualTo(
            with(
                new ConsumerOptions().toJson().fieldNames(),
                Stream.concat(
                        Stream.of("handler"), AddressOptions.settings().byKey().keySet().stream())
                    .toArray(String[]::new)));
    assertThat(listed("ProducerVerticle"))
        .isEqualTo(with(new ProducerOptions().toJson().fieldNames(), "address"));
  }
}
