package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What one heartbeat costs: counted, so that the speed of the machine does not matter. */
class HeartbeatCostTest {
  private static final int CONDITIONS = 50;

  private final Bench bench = Bench.withShards(4);

  private int looks;

  /** A filter as it comes with a heartbeat: not the same object as before. */
  private final class Filter extends AbstractList<String> {
    @Override
    public String get(int i) {
      looks++;
      return "key=" + i;
    }

    @Override
    public int size() {
      return CONDITIONS;
    }
  }

  private Heartbeat filtering(String member, List<String> filter) {
    Heartbeat beat = bench.beat(member);
    return beat.withWishes(beat.wishes().withFilter(filter));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 20, 200})
  void theFilterIsComparedOnceForAnyNumberOfMembers(int members) {
    times(members, i -> bench.send(filtering("m" + i, new Filter())));
    looks = 0;
    assertThat(bench.send(filtering("m0", new Filter()))).isInstanceOf(Assignment.class);
    assertThat(looks).isPositive().isLessThanOrEqualTo(8 * CONDITIONS);
  }

  @Test
  void aFilterIsHeldOnceAGroup() {
    times(20, i -> bench.send(filtering("m" + i, new Filter())));
    times(20, i -> bench.send(filtering("m" + i, new Filter())));
    MemberTable members = bench.core.find(Bench.GROUP).members();
    assertThat(members.live()).hasSize(20);
    assertThat(members.live().stream().map(each -> each.beat().wishes().filter()))
        .allMatch(filter -> filter == members.filter());
  }

  @Test
  void aMemberThatIsAloneChangesTheFilter() {
    bench.send(filtering("a", List.of("key=1")));
    bench.send(filtering("a", List.of("key=2")));
    bench.send(filtering("b", List.of("key=2")));
    assertThat(bench.refusal(filtering("a", List.of("key=3")))).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(bench.refusal(filtering("c", null))).isEqualTo(Refusal.GROUP_MISMATCH);
    bench.send(Bench.leaving(filtering("a", List.of("key=2"))));
    assertThat(bench.send(filtering("b", null))).isInstanceOf(Assignment.class);
    assertThat(bench.send(filtering("c", null))).isInstanceOf(Assignment.class);
  }

  @Test
  void aBroadcastKeepsOfAFilterWhatIsShown() {
    Heartbeat beat = Bench.in(filtering("a", new Filter()), "broadcast", List.of("t"), null);
    assertThat(bench.send(beat)).isInstanceOf(Assignment.class);
    Heartbeat kept = bench.core.find(Bench.GROUP).members().live("a").beat();
    assertThat(kept.wishes().filter()).hasSize(MessageFilter.SHOWN_MAX + 1);
  }

  @Test
  void aConditionTwiceIsRefused() {
    assertThat(bench.refusal(filtering("a", List.of("key=1", "key=1")))).isEqualTo(Refusal.INVALID);
  }

  @Test
  void aUserHasHalfOfTheRoomForFilters() {
    String text = "a".repeat((MessageFilter.BYTES_MAX - 100) / 2);
    List<String> filter = List.of("key=" + text, "key^=" + text);
    int groups = 0;
    Object answer;
    do {
      Heartbeat beat = filtering("m", filter);
      answer = bench.send(Heartbeats.with(beat, "group", "g" + groups++, "user", "many"));
    } while (answer instanceof Assignment && groups < 10_000);
    assertThat(((DispatcherAction.Refuse) answer).refusal()).isEqualTo(Refusal.OVERLOADED);
    assertThat(groups).isBetween(450, 550);
    Heartbeat other = Heartbeats.with(filtering("m", filter), "group", "x", "user", "one");
    assertThat(bench.send(other)).isInstanceOf(Assignment.class);
    Heartbeat plain = Heartbeats.with(bench.beat("m"), "group", "y", "user", "many");
    assertThat(bench.send(plain)).as("without a filter").isInstanceOf(Assignment.class);
  }

  @Test
  void aUserHasHalfOfTheRoomForHeartbeatsThatWait() {
    WaitingHeartbeats waiting = new WaitingHeartbeats(user -> 1);
    int refused = 0;
    for (int i = 0; i < WaitingHeartbeats.MAX; i++) {
      refused += waiting.forGroup(waits("many", i)) == null ? 0 : 1;
    }
    assertThat(refused).isEqualTo(WaitingHeartbeats.MAX / 2);
    assertThat(waiting.forGroup(waits("one", 0))).isNull();
    assertThat(waiting.forGroup(waits("many", 0))).as("the older of a run").isNotNull();
    assertThat(waiting.all()).hasSize(WaitingHeartbeats.MAX / 2 + 1);
    assertThat(waiting.forGroup(waits("many", WaitingHeartbeats.MAX))).isNull();
  }

  private static WaitingHeartbeats.Arrival waits(String user, int i) {
    Heartbeat beat = Heartbeats.beat("g", "m", user + i, 100);
    return new WaitingHeartbeats.Arrival(i, Heartbeats.with(beat, "user", user), false);
  }

  @Test
  void membersShareTheirSubscription() {
    List<String> topics = new ArrayList<>();
    times(1_000, i -> topics.add(new String("t")));
    topics.add("x*");
    times(
        5,
        i ->
            bench.send(
                Heartbeats.with(
                    bench.beat("m" + i), "topics", new ArrayList<>(topics), "user", "u")));
    var live = bench.core.find(Bench.GROUP).members().live();
    List<String> first = live.iterator().next().beat().topics();
    assertThat(first).containsExactly("t", "x*");
    assertThat(live).allMatch(member -> member.beat().topics() == first);
  }

  private static Topics topics(int count) {
    List<TopicInfo> all = new ArrayList<>();
    times(
        count,
        i ->
            all.add(
                new TopicInfo(i + 1, "t" + i, 1, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1)));
    return new Topics(all);
  }

  @Test
  void patternsAreComparedWithTopicsOnceForAllMembers() {
    Topics topics = topics(1_000);
    List<String> patterns = IntStream.range(0, 50).mapToObj(i -> "t" + i + "*").toList();
    topics.named(patterns, List.of("t*"));
    long first = topics.looks();
    assertThat(first).isLessThanOrEqualTo(51_000);
    times(1_000, i -> topics.named(new ArrayList<>(patterns), List.of("t*")));
    assertThat(topics.looks()).isEqualTo(first);
    times(100, i -> topics.named(List.of("x" + i + "*"), List.of("t7")));
    assertThat(topics.looks() - first)
        .as("only with the topics that the user may consume")
        .isLessThanOrEqualTo(1_100);
  }

  @Test
  void aMemberHasAHundredPatterns() {
    List<String> most = IntStream.range(0, Heartbeat.PATTERNS_MAX).mapToObj(i -> i + "*").toList();
    List<String> more = new ArrayList<>(most);
    more.add("t");
    Heartbeat beat = bench.beat("a");
    assertThat(bench.send(Heartbeats.with(beat, "topics", more))).isInstanceOf(Assignment.class);
    more.add("x*");
    assertThat(bench.refusal(Heartbeats.with(beat, "topics", more))).isEqualTo(Refusal.INVALID);
  }
}
