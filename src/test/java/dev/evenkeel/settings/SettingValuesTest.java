package dev.evenkeel.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Options;
import dev.evenkeel.Refused;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Rate;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonObject;
import java.util.Collections;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class SettingValuesTest {
  @Test
  void commandsAreToldTheirOptionsAndUnits() {
    assertThatThrownBy(() -> new ProducerOptions().setLingerMillis(60_001).check())
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused ->
                assertThat(refused.wordsOfCommands())
                    .isEqualTo("--linger is 60001ms: at most 1m is allowed"));
    assertThat(ConsumerOptions.setter("onDamagedOffsets").ofPrograms())
        .isEqualTo("ConsumerOptions.setOnDamagedOffsets");
    assertThat(ClientOptions.setter("ca").ofCommands()).isEqualTo("--ca FILE");
  }

  private static void refused(ThrowingCallable call, String message) {
    Refused.with(Refusal.INVALID, call).hasMessage(message);
  }

  @Test
  void equalOptionsHaveTheSameJsonAndComeFromIt() {
    ConsumerOptions options =
        Options.group("g", "t", "u")
            .setOnFailure(ConsumerOptions.OnFailure.DEAD_LETTER)
            .setRetryDelaysMillis(List.of(1L, 2L))
            .setStart(StartAt.offset(7))
            .setKeyRate(new Rate(1, 10_000));
    ConsumerOptions again = new ConsumerOptions(new JsonObject(options.toJson().encode()));
    assertThat(again).isEqualTo(options).hasSameHashCodeAs(options);
    assertThat(again.setParallel(3)).isNotEqualTo(options);
    assertThat(options.toJson().getString("onFailure")).isEqualTo("dead_letter");
    // As options of commands write it.
    assertThat(new ConsumerOptions(new JsonObject().put("onFailure", "dead-letter")).getOnFailure())
        .isEqualTo(ConsumerOptions.OnFailure.DEAD_LETTER);
    assertThat(options.toJson().getString("startKind")).isEqualTo("OFFSET");
    assertThat(new ProducerOptions()).isEqualTo(new ProducerOptions(new JsonObject()));
    assertThat(new ClientOptions().setClusterName("h")).isNotEqualTo(new ClientOptions());
  }

  @Test
  void aNullInJsonStandsForTheDefault() {
    ConsumerOptions options =
        new ConsumerOptions(new JsonObject().putNull("parallel").putNull("mode").putNull("range"));
    assertThat(options).isEqualTo(new ConsumerOptions());
  }

  @Test
  void aValueOfAnotherTypeIsRefused() {
    refused(
        () -> new ConsumerOptions(new JsonObject().put("parallel", "many")),
        "bad configuration: parallel is many, which has the wrong type");
    refused(
        () -> new ConsumerOptions(new JsonObject().put("parallel", 1L << 40)),
        "bad configuration: parallel is 1099511627776, which has the wrong type");
    refused(
        () -> new ProducerOptions(new JsonObject().put("onFull", "burst")),
        "bad configuration: onFull 'burst': use wait or fail");
  }

  @Test
  void numbersAreCheckedAgainstTheirBounds() {
    new ConsumerOptions().check();
    new ProducerOptions().check();
    refused(
        () -> new ConsumerOptions().setParallel(0).check(), "parallel is 0: at least 1 is needed");
    refused(
        () -> new ConsumerOptions().setFetchWaitMillis(15_001).check(),
        "fetchWaitMillis is 15001: at most 15000 is allowed");
    refused(
        () -> new ConsumerOptions().setRetryDelaysMillis(List.of(5L, -1L)).check(),
        "retryDelaysMillis is -1: at least 0 is needed");
    refused(
        () -> new ConsumerOptions().setRetryDelaysMillis(Collections.nCopies(101, 5L)).check(),
        "number of retryDelaysMillis is 101: at most 100 is allowed");
    refused(
        () -> new ProducerOptions().setLingerMillis(60_001).check(),
        "lingerMillis is 60001: at most 60000 is allowed");
    refused(
        () -> new ProducerOptions().setSpoolLimitBytes(1 << 20).check(),
        "spoolLimitBytes is 1048576: at least 33554432 is needed");
  }
}
