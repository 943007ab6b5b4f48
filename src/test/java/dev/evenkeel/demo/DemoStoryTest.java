package dev.evenkeel.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.demo.DemoScript.Event;
import dev.evenkeel.demo.DemoStory.Move;
import dev.evenkeel.demo.DemoStory.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoStoryTest {
  private static Move move(
      int shard, String from, String to, Long pause, Long release, Long again) {
    return new Move(shard, 2, from, to, pause, release, again);
  }

  private static String line(Event event, long carried, Long settled, Move... moves) {
    return DemoStory.line(new Outcome(event, "c4", 4711, List.of(moves), carried, settled));
  }

  @Test
  void aJoinTellsWhatCameFromWhomAndHowLongItPaused() {
    assertThat(
            line(
                Event.JOIN,
                1234,
                900L,
                move(0, "c2", "c4", 12L, 3L, 0L),
                move(1, "c1", "c4", 40L, 5L, 0L),
                move(2, "c3", "c4", null, 5L, 0L)))
        .isEqualTo(
            "c4 (pid 4711) joins: 3 shards travel to it from c1, c2 and c3, with the counts of"
                + " 1,234 messages; paused 12 to 40 ms");
  }

  @Test
  void unknownFiguresAreLeftOut() {
    assertThat(line(Event.JOIN, 0, 900L, move(0, "c2", "c4", null, null, null)))
        .isEqualTo("c4 (pid 4711) joins: 1 shard travels to it from c2");
    assertThat(line(Event.JOIN, 0, 900L, move(0, null, "c4", null, 7L, null)))
        .isEqualTo("c4 (pid 4711) joins: 1 shard travels to it; released in 7 ms");
  }

  @Test
  void aLeaveTellsWhoTookOverAndWhatElseMoved() {
    assertThat(
            line(
                Event.LEAVE,
                5,
                900L,
                move(0, "c4", "c1", 2L, 3L, null),
                move(1, "c4", "c1", 2L, 5L, null),
                move(2, "c3", "c1", 9L, 5L, null)))
        .isEqualTo(
            "c4 (pid 4711) leaves cleanly: its 2 shards travel to c1, with the counts of 5"
                + " messages; paused 2 ms; 1 more to even things out");
  }

  @Test
  void aKillTellsHowLongTheShardsHadNoOwnerAndWhatCameAgain() {
    assertThat(
            line(
                Event.KILL,
                10,
                5_432L,
                move(0, "c4", "c1", null, null, 31L),
                move(1, "c4", "c2", null, null, 1_000L)))
        .isEqualTo(
            "c4 (pid 4711) is killed by SIGKILL: within 5.4 s its 2 shards travel to c1 and c2,"
                + " with the counts of 10 messages; 1,031 messages come again");
    assertThat(line(null, 0, 5_000L, move(0, "c4", "c1", null, null, null)))
        .isEqualTo(
            "c4 (pid 4711) was ended by somebody else: within 5.0 s its shard travels to c1");
  }

  @Test
  void whatDidNotComeToPassIsNotTold() {
    assertThat(line(Event.KILL, 0, null)).contains("not every shard has an owner yet");
    assertThat(line(Event.LEAVE, 0, 1L)).endsWith("no shard of its own travels");
  }
}
