package dev.evenkeel.broker.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.node.ReplicaCheck.News;
import dev.evenkeel.broker.node.ReplicaCheck.Place;
import dev.evenkeel.protocol.StateDigest;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ReplicaCheckTest {
  private static final List<String> OTHERS = List.of("n2", "n3");

  private final ReplicaCheck check = new ReplicaCheck();

  /** Of places 0, 10, 20 and so on up to the last one. */
  private static StateDigest digest(long since, long last, long differsFrom) {
    TreeMap<Long, Long> sums = new TreeMap<>();
    for (long place = Math.max(0, last - 40); place <= last; place += 10) {
      if (place >= since) {
        sums.put(place, (place - since) * 7 + (place > differsFrom ? 1 : 0));
      }
    }
    return new StateDigest(1, since, sums);
  }

  private static StateDigest sound(long since, long last) {
    return digest(since, last, Long.MAX_VALUE);
  }

  @Test
  void equalStatesAreEqualHoweverFarTheyAre() {
    assertThat(check.equalUpTo(OTHERS)).isEqualTo(-1);
    assertThat(check.heard("n2", sound(0, 100), sound(0, 90))).isEqualTo(News.NONE);
    assertThat(check.equalUpTo(OTHERS)).as("n3 has told nothing").isEqualTo(-1);
    assertThat(check.heard("n3", sound(0, 110), sound(0, 120))).isEqualTo(News.NONE);
    assertThat(check.equalUpTo(OTHERS)).isEqualTo(89);
    assertThat(check.heard("n2", sound(0, 900), sound(0, 100))).isEqualTo(News.NONE);
    assertThat(check.equalUpTo(OTHERS)).as("nothing to compare").isEqualTo(89);
    assertThat(check.differences()).isEmpty();
  }

  @Test
  void aDifferenceIsToldOnceWithItsPlace() {
    check.heard("n2", sound(0, 100), sound(0, 100));
    StateDigest wrong = digest(0, 140, 115);
    assertThat(check.heard("n2", sound(0, 140), wrong)).isEqualTo(News.DIFFERS);
    assertThat(check.differences()).isEqualTo(Map.of("n2", new Place(110, 119)));
    assertThat(check.heard("n2", sound(0, 200), digest(0, 200, 115))).isEqualTo(News.NONE);
    assertThat(check.differences()).isEqualTo(Map.of("n2", new Place(110, 119)));
    assertThat(check.equalUpTo(List.of("n2"))).isEqualTo(99);
  }

  @Test
  void aDifferenceThatIsOlderThanTheOldestPlaceIsFound() {
    check.heard("n2", sound(0, 100), sound(0, 100));
    assertThat(check.heard("n2", sound(0, 900), digest(0, 900, 115))).isEqualTo(News.DIFFERS);
    assertThat(check.differences()).isEqualTo(Map.of("n2", new Place(100, 859)));
  }

  @Test
  void aReplicaThatWasMadeAnewFromASoundOneIsEqualAgain() {
    check.heard("n2", sound(0, 140), digest(0, 140, 115));
    assertThat(check.heard("n2", sound(0, 200), sound(0, 200))).isEqualTo(News.EQUAL_AGAIN);
    assertThat(check.differences()).isEmpty();
  }

  @Test
  void sumsThatBeganAtOtherEntriesAreComparedByWhatCameLater() {
    // As while the nodes of a cluster get a build with digests of another form, one by one.
    assertThat(check.heard("n2", sound(0, 100), sound(70, 100))).isEqualTo(News.NONE);
    assertThat(check.heard("n2", sound(0, 200), sound(70, 200))).isEqualTo(News.NONE);
    assertThat(check.equalUpTo(List.of("n2"))).isEqualTo(199);
    assertThat(check.heard("n2", sound(0, 250), digest(70, 250, 215))).isEqualTo(News.DIFFERS);
    assertThat(check.differences()).isEqualTo(Map.of("n2", new Place(210, 219)));
    // It went on with another build for a while.
    assertThat(check.heard("n2", sound(0, 400), sound(380, 400))).isEqualTo(News.EQUAL_AGAIN);
    assertThat(check.heard("n2", sound(0, 500), sound(380, 500))).isEqualTo(News.NONE);
  }

  @Test
  void digestsOfAnotherFormAreNotCompared() {
    StateDigest other = new StateDigest(2, 0, sound(0, 100).sums());
    StateDigest wrong = new StateDigest(2, 0, digest(0, 100, 15).sums());
    assertThat(check.heard("n2", sound(0, 100), other)).isEqualTo(News.NONE);
    assertThat(check.heard("n2", sound(0, 100), wrong)).isEqualTo(News.NONE);
    assertThat(check.equalUpTo(List.of("n2"))).isEqualTo(-1);
  }

  @Test
  void theOddOneIsTheOneThatDiffersFromAllOthers() {
    check.heard("n2", sound(0, 140), digest(0, 140, 115));
    assertThat(check.odd(OTHERS)).as("n3 is not known").isFalse();
    check.heard("n3", sound(0, 140), sound(0, 140));
    assertThat(check.odd(OTHERS)).as("n2 is").isFalse();
    check.heard("n3", sound(0, 140), digest(0, 140, 115));
    assertThat(check.odd(OTHERS)).isTrue();
    assertThat(check.odd(List.of("n2"))).as("of two, nobody knows").isFalse();
    StateDigest third = new StateDigest(1, 0, new TreeMap<>(Map.of(140L, 3L)));
    check.heard("n3", sound(0, 140), third);
    assertThat(check.odd(OTHERS)).as("all three differ").isFalse();
  }
}
