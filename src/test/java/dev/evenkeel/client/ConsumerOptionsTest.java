package dev.evenkeel.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.client.internal.member.OptionsCheck;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsumerOptionsTest {
  private static ConsumerOptions options() {
    return new ConsumerOptions().setGroup("g").setTopics(List.of("t"));
  }

  private static ConsumerOptions level() {
    return options().setMode(ConsumerOptions.Mode.LEVEL);
  }

  private static ConsumerOptions overTheWire(ConsumerOptions options) {
    return new ConsumerOptions(new JsonObject(options.toJson().toBuffer()));
  }

  private static void refuses(ConsumerOptions options, String text) {
    Refused.with(Refusal.INVALID, () -> OptionsCheck.check(options)).hasMessage(text);
  }

  @Test
  void unsetOptionsAreTheDefaults() {
    ConsumerOptions options = overTheWire(options());
    assertThat(options.getMode()).isEqualTo(ConsumerOptions.Mode.SHARDED);
    assertThat(options.getOrder()).isEqualTo(ConsumerOptions.Order.SHARD);
    assertThat(options.getRange()).isEqualTo(100);
    assertThat(options.getStrategy()).isEqualTo(ConsumerOptions.Strategy.PULL);
    assertThat(options.getStallTimeoutMillis()).isEqualTo(10_000);
    assertThat(options.getDedup()).isEqualTo(ConsumerOptions.Dedup.OFF);
    assertThat(OptionsCheck.policy(options)).isEqualTo(GroupPolicy.SHARDED);
    OptionsCheck.check(options);
    ConsumerOptions nulls = options().setMode(null).setDedup(null);
    assertThat(OptionsCheck.policy(nulls)).isEqualTo(GroupPolicy.SHARDED);
  }

  @Test
  void inModeLevelNoMemberEndsWithAMessageThatFails() {
    OptionsCheck.check(level().setOnFailure(ConsumerOptions.OnFailure.DEAD_LETTER));
    refuses(
        level().setOnFailure(ConsumerOptions.OnFailure.STOP),
        "onFailure STOP in mode level: only the other modes have it, use RETRY or DEAD_LETTER");
  }

  @Test
  void modeLevelHasNoOrderUnlessOneIsSet() {
    assertThat(overTheWire(level()).getOrder()).isEqualTo(ConsumerOptions.Order.NONE);
    assertThat(overTheWire(level().setOrder(ConsumerOptions.Order.KEY)).getOrder())
        .isEqualTo(ConsumerOptions.Order.KEY);
    assertThat(OptionsCheck.policy(overTheWire(level()))).isEqualTo(GroupPolicy.of("level"));
  }

  @Test
  void thePolicyIsTheSameAfterJson() {
    ConsumerOptions options =
        overTheWire(
            level()
                .setRange(7)
                .setStrategy(ConsumerOptions.Strategy.PUSH)
                .setStallTimeoutMillis(2_000)
                .setDedup(ConsumerOptions.Dedup.PAYLOAD));
    assertThat(OptionsCheck.policy(options))
        .isEqualTo(new GroupPolicy("level", 7, "push", "payload"));
    assertThat(options.getStallTimeoutMillis()).isEqualTo(2_000);
  }

  @Test
  void whatIsOfAnotherModeOrOutOfBoundsIsRefused() {
    refuses(options().setRange(5), "a range of 5 in mode sharded: only mode level has one");
    refuses(
        options().setStrategy(ConsumerOptions.Strategy.PUSH),
        "a strategy in mode sharded: only mode level has one");
    refuses(
        options().setStallTimeoutMillis(5_000),
        "stallTimeoutMillis is given: only mode level has one");
    refuses(level().setRange(0), "range of 0: it must be 1 to 1000000");
    refuses(
        level().setStallTimeoutMillis(999), "stallTimeoutMillis is 999: at least 1000 is needed");
    refuses(
        level().setStallTimeoutMillis(3_600_001),
        "stallTimeoutMillis is 3600001: at most 3600000 is allowed");
  }

  @Test
  void dedupIsForModeShardedAndItsTimeoutForDedup() {
    OptionsCheck.check(level());
    OptionsCheck.check(options().setDedup(ConsumerOptions.Dedup.KEY));
    OptionsCheck.check(
        options().setDedup(ConsumerOptions.Dedup.PAYLOAD).setDedupTimeoutMillis(1_000));
    refuses(
        level().setDedup(ConsumerOptions.Dedup.KEY),
        "dedup in mode level: only mode sharded has it, leave it off");
    refuses(
        options().setDedupTimeoutMillis(5_000),
        "dedupTimeoutMillis is given: without dedup nothing has one");
    refuses(
        options().setDedup(ConsumerOptions.Dedup.KEY).setDedupTimeoutMillis(999),
        "dedupTimeoutMillis is 999: at least 1000 is needed");
    ConsumerOptions again =
        new ConsumerOptions(
            options().setDedup(ConsumerOptions.Dedup.KEY).setDedupTimeoutMillis(7_000).toJson());
    assertThat(again.getDedupTimeoutMillis()).isEqualTo(7_000);
    assertThat(options().getDedupTimeoutMillis()).isEqualTo(60_000);
  }
}
