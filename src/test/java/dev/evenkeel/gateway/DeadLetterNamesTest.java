package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Views;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadLetterNamesTest {
  private static final ClusterView VIEW =
      Views.of(
          "n1", "n1", List.of("n1"), List.of("n1"), List.of(topic(7, "orders"), topic(8, "b")));

  private static TopicInfo topic(int id, String name) {
    return new TopicInfo(id, name, 4, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1);
  }

  @Test
  void namesStandForPlacesInTheirOrder() {
    List<String> names = List.of("orders/3/12", "b/0/999999999999999999", "orders/0/0");
    List<FailedMessages.Id> ids = FailedMessages.ids(VIEW, names);
    assertThat(ids)
        .containsExactly(
            new FailedMessages.Id(new Shard(7, 3), 12),
            new FailedMessages.Id(new Shard(8, 0), 999_999_999_999_999_999L),
            new FailedMessages.Id(new Shard(7, 0), 0));
    assertThat(names.stream().map(each -> FailedMessages.id(VIEW, each)).toList()).isEqualTo(ids);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "orders",
        "orders/1",
        "orders/1/2/3",
        "orders/-1/2",
        "orders/1/",
        "orders//2",
        "orders/1234567890/1",
        "orders/1/1234567890123456789",
        "orders/1/2\n"
      })
  void whatIsNoNameIsRefusedWithTheFormOfOne(String name) {
    Refused.with(
        Refusal.INVALID,
        () -> FailedMessages.ids(VIEW, List.of("orders/1/2", name)),
        "does not name a dead letter");
  }

  @Test
  void aNameOfWhatIsNotThereSaysWhatIsMissing() {
    Refused.with(Refusal.UNKNOWN_TOPIC, () -> FailedMessages.id(VIEW, "orderz/1/2"), "'orderz'");
    Refused.with(Refusal.UNKNOWN_SHARD, () -> FailedMessages.id(VIEW, "orders/4/2"), "no shard 4");
  }
}
