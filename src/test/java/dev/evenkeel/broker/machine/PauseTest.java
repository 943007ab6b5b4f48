package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PauseTest {
  private static final int ALL = Pause.ALL_SHARDS;

  private final Rig rig = new Rig();

  @BeforeEach
  void begin() {
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.PAUSING));
    for (String topic : List.of("a", "b")) {
      rig.run(new MetaCommand.CreateTopic(topic, 2, TopicConfig.DEFAULT));
      rig.run(new MetaCommand.ActivateTopic(id(topic), null));
    }
    declare("g", GroupPolicy.MODE_SHARDED);
    declare("h", GroupPolicy.MODE_LEVEL);
  }

  private void declare(String group, String mode) {
    rig.run(
        Commands.declareGroup(
            group, GroupPolicy.of(mode), List.of("a", "b"), StartAt.EARLIEST, true));
  }

  private int id(String topic) {
    return rig.meta.tables().topic(topic).id();
  }

  private Reply pause(String group, String topic, int shard) {
    return rig.run(new MetaCommand.PauseGroup(group, topic, shard, true));
  }

  private Reply resume(String group, String topic, int shard) {
    return rig.run(new MetaCommand.PauseGroup(group, topic, shard, false));
  }

  private boolean isPaused(String group, String topic, int shard) {
    return rig.meta.tables().isPaused(group, new Shard(id(topic), shard));
  }

  private static void refused(Reply reply, Refusal refusal, String words) {
    assertThat(reply).isInstanceOf(Reply.Refused.class);
    assertThat(((Reply.Refused) reply).refusal()).isEqualTo(refusal);
    assertThat(((Reply.Refused) reply).detail()).contains(words);
  }

  @Test
  void aGroupATopicAndAShardArePausedAndResumed() throws Exception {
    assertThat(pause("g", null, ALL)).isEqualTo(Reply.DONE);
    assertThat(pause("g", null, ALL)).as("again").isEqualTo(Reply.DONE);
    assertThat(isPaused("g", "b", 1)).isTrue();
    assertThat(isPaused("h", "b", 1)).isFalse();
    assertThat(resume("g", null, ALL)).isEqualTo(Reply.DONE);
    assertThat(resume("g", null, ALL)).as("again").isEqualTo(Reply.DONE);
    assertThat(isPaused("g", "b", 1)).isFalse();

    pause("g", "a", ALL);
    pause("g", "b", 1);
    rig.meta.close();
    rig.meta.open();
    assertThat(isPaused("g", "a", 0)).isTrue();
    assertThat(isPaused("g", "b", 0)).isFalse();
    assertThat(isPaused("g", "b", 1)).isTrue();
    assertThat(rig.meta.tables().isPaused("g")).as("as a whole").isFalse();
    resume("g", "b", 1);
    assertThat(isPaused("g", "b", 1)).isFalse();
    rig.meta.close();
    rig.meta.open();
    assertThat(rig.meta.tables().pauses())
        .containsExactly(new Pause("g", id("a"), Pause.ALL_SHARDS));
  }

  @Test
  void whatIsResumedLosesAllItsPauses() {
    pause("g", "a", 0);
    pause("g", "a", ALL);
    pause("g", "b", 1);
    pause("h", "b", 1);
    refused(resume("g", "a", 0), Refusal.INVALID, "resume the topic");
    resume("g", "a", ALL);
    assertThat(isPaused("g", "a", 0)).isFalse();
    pause("g", null, ALL);
    refused(resume("g", "b", ALL), Refusal.INVALID, "resume the group");
    resume("g", null, ALL);
    assertThat(isPaused("g", "b", 1)).isFalse();
    assertThat(isPaused("h", "b", 1)).isTrue();
  }

  @Test
  void refusesWhatIsNotThere() {
    refused(pause("x", null, ALL), Refusal.UNKNOWN_GROUP, "no group 'x'");
    refused(pause("g", "x", ALL), Refusal.UNKNOWN_TOPIC, "no topic 'x'");
    refused(pause("g", "a", 2), Refusal.UNKNOWN_SHARD, "no shard 2: it has shards 0 to 1");
    refused(pause("g", null, 1), Refusal.INVALID, "name the shard's topic");
    refused(pause("g", "a", -2), Refusal.INVALID, "from 0");
    rig.run(new MetaCommand.CreateTopic("other", 2, TopicConfig.DEFAULT));
    refused(pause("g", "other", ALL), Refusal.UNKNOWN_TOPIC, "does not read topic 'other'");
    declare("all", GroupPolicy.MODE_BROADCAST);
    refused(pause("all", null, ALL), Refusal.INVALID, "mode broadcast");
    assertThat(rig.meta.tables().pauses()).isEmpty();
  }

  @Test
  void pausesGoWithTheirGroupAndTheirTopic() {
    pause("g", null, ALL);
    pause("h", "a", ALL);
    pause("h", "a", 1);
    pause("h", "b", 1);
    rig.run(new MetaCommand.ForgetGroup("g"));
    declare("g", GroupPolicy.MODE_SHARDED);
    assertThat(isPaused("g", "a", 0)).isFalse();
    rig.run(new MetaCommand.DeleteTopic("a"));
    assertThat(isPaused("h", "a", 1)).isFalse();
    rig.run(new MetaCommand.ForgetTopic("h", "b"));
    assertThat(rig.meta.tables().pauses()).isEmpty();
    pause("h", null, ALL);
    declare("h", GroupPolicy.MODE_BROADCAST);
    assertThat(rig.meta.tables().pauses()).isEmpty();
  }

  /** Consumers still have messages of it in hand. */
  @Test
  void aTopicThatIsBeingDeletedStaysPausedUntilItIsRemoved() {
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.LASTING_PAUSES));
    pause("g", "a", Pause.ALL_SHARDS);
    pause("h", "a", 1);
    pause("h", "b", 1);
    Shard shard = new Shard(id("a"), 1);
    rig.run(new MetaCommand.DeleteTopic("a"));
    assertThat(rig.meta.tables().isPaused("g", shard)).isTrue();
    assertThat(rig.meta.tables().isPaused("h", shard)).isTrue();
    rig.run(new MetaCommand.RemoveTopic(shard.topicId(), 0));
    assertThat(rig.meta.tables().pauses()).containsExactly(new Pause("h", id("b"), 1));
  }

  /** Below that level the pause goes at once, but the shards are there a while longer. */
  @Test
  void nothingComesOfATopicThatIsBeingDeleted() {
    pause("g", "a", Pause.ALL_SHARDS);
    Shard shard = new Shard(id("a"), 0);
    rig.run(new MetaCommand.DeleteTopic("a"));
    assertThat(rig.meta.tables().isPaused("g", shard)).isFalse();
    assertThat(rig.meta.tables().isHeld("g", shard)).isTrue();
    rig.run(new MetaCommand.RemoveTopic(shard.topicId(), 0));
    assertThat(rig.meta.tables().isHeld("g", shard)).isFalse();
  }

  @Test
  void pausesOfShardsGoWithTheirLayout() {
    pause("g", "a", 1);
    rig.run(new MetaCommand.ReshardTopic("a", 3));
    rig.run(new MetaCommand.OpenLayout(id("a"), null));
    assertThat(pause("g", "a", 3)).isEqualTo(Reply.DONE);
    rig.run(new MetaCommand.ForgetLayout(id("a"), 0));
    assertThat(rig.meta.tables().pauses()).containsExactly(new Pause("g", id("a"), 3));
  }

  @Test
  void whoeverWaitsHearsOfTheEndOfAPause() throws Exception {
    int[] heard = {0};
    rig.meta.onResumed(() -> heard[0]++);
    pause("g", null, ALL);
    assertThat(heard[0]).isZero();
    resume("g", null, ALL);
    resume("g", null, ALL);
    assertThat(heard[0]).isEqualTo(1);
    pause("g", null, ALL);
    rig.run(new MetaCommand.ForgetGroup("g"));
    assertThat(heard[0]).isEqualTo(2);
  }

  @Test
  void refusesMorePausesThanItKeeps() {
    rig.run(new MetaCommand.CreateTopic("many", 10_000, TopicConfig.DEFAULT));
    rig.run(
        Commands.declareGroup("g", GroupPolicy.SHARDED, List.of("many"), StartAt.EARLIEST, true));
    times(Pause.PAUSES_MAX, i -> pause("g", "many", i));
    refused(pause("h", null, ALL), Refusal.TOO_LARGE, "10000 pauses");
    assertThat(pause("g", "many", 5)).as("one that there is").isEqualTo(Reply.DONE);
  }
}
