package dev.evenkeel.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Refused;
import dev.evenkeel.client.internal.member.OptionsCheck;
import dev.evenkeel.protocol.RefusedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateTest {
  @ParameterizedTest
  @CsvSource({
    "100/s, 100, 1000",
    "30/m, 30, 60000",
    "1/10s, 1, 10000",
    "5/250ms, 5, 250",
    "1/1d, 1, 86400000"
  })
  void isWrittenAsSoManyInSoLong(String text, int permits, long periodMillis) {
    Rate rate = Rate.parse(text);
    assertThat(rate).isEqualTo(new Rate(permits, periodMillis));
    assertThat(Rate.parse(rate.toString())).isEqualTo(rate);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "1/",
        "/s",
        "0/s",
        "1/0s",
        "-1/s",
        "1.5/s",
        "1/s/s",
        "1/2d",
        "1/1000000000ms",
        "1000001/s",
        "99999999999/s",
        "1/y"
      })
  void anythingElseIsRefused(String text) {
    assertThatThrownBy(() -> Rate.parse(text)).isInstanceOf(RefusedException.class);
  }

  @Test
  void optionsKeepIt() {
    ConsumerOptions options =
        new ConsumerOptions()
            .setRate(new Rate(100, 1_000))
            .setKeyRate(new Rate(1, 10_000))
            .setGroupRate(new Rate(30, 60_000))
            .setRateBy(ConsumerOptions.RateBy.PAYLOAD)
            .setOverRate(ConsumerOptions.OverRate.DROP_OLDEST);
    ConsumerOptions again = new ConsumerOptions(options.toJson());
    assertThat(again.getRate()).isEqualTo(options.getRate());
    assertThat(again.getKeyRate()).isEqualTo(options.getKeyRate());
    assertThat(again.getGroupRate()).isEqualTo(new Rate(30, 60_000));
    assertThat(again.getRateBy()).isEqualTo(ConsumerOptions.RateBy.PAYLOAD);
    assertThat(again.getOverRate()).isEqualTo(ConsumerOptions.OverRate.DROP_OLDEST);
  }

  private static ConsumerOptions rated() {
    return new ConsumerOptions()
        .setGroup("g")
        .setTopics(java.util.List.of("t"))
        .setKeyRate(new Rate(1, 10_000));
  }

  private static void refused(ConsumerOptions options, String text) {
    Refused.saying(() -> OptionsCheck.check(options), text);
  }

  @Test
  void whatHasNoRatesSaysSo() {
    OptionsCheck.check(rated());
    refused(rated().setMode(ConsumerOptions.Mode.LEVEL), "rates in mode level");
    ConsumerOptions group = rated().setKeyRate(null).setGroupRate(new Rate(1, 1_000));
    OptionsCheck.check(group);
    refused(group.setMode(ConsumerOptions.Mode.LEVEL), "rates in mode level");
    OptionsCheck.check(rated().setDedup(ConsumerOptions.Dedup.KEY));
    refused(
        rated()
            .setOrder(ConsumerOptions.Order.KEY)
            .setOverRate(ConsumerOptions.OverRate.DROP_OLDEST)
            .setDedup(ConsumerOptions.Dedup.KEY),
        "overRate drops together with dedup");
    refused(
        rated().setOverRate(ConsumerOptions.OverRate.DROP_NEWEST), "nothing passes one that waits");
    refused(rated().setKeyRate(null).setRateBy(ConsumerOptions.RateBy.PAYLOAD), "need a keyRate");
    OptionsCheck.check(
        rated()
            .setOrder(ConsumerOptions.Order.KEY)
            .setOverRate(ConsumerOptions.OverRate.DROP_NEWEST));
    OptionsCheck.check(
        rated().setMode(ConsumerOptions.Mode.BROADCAST).setOffsetsDirectory("somewhere"));
  }
}
