package dev.evenkeel.assign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.GroupLease;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Who leads a group in mode singleton. */
class ElectionTest {
  private static final long TERM = 5;

  private static Election.Candidate candidate(String name, long born, long resigned, boolean bad) {
    return new Election.Candidate(name, name, born, resigned, bad);
  }

  private static GroupLease lease(String holder) {
    return new GroupLease("g", TERM, holder, holder);
  }

  @Provide
  Arbitrary<List<Election.Candidate>> members() {
    return Combinators.combine(
            Arbitraries.longs().between(1, 4),
            Arbitraries.longs().between(0, TERM),
            Arbitraries.of(true, false))
        .as((born, resigned, stuck) -> candidate("", born, resigned, stuck))
        .list()
        .ofMaxSize(5)
        .map(
            all -> {
              List<Election.Candidate> named = new ArrayList<>();
              for (Election.Candidate each : all) {
                named.add(
                    candidate(
                        "m" + named.size(), each.bornMillis(), each.resignedTerm(), each.stuck()));
              }
              return named;
            });
  }

  @Property
  void everybodyElectsTheSame(@ForAll("members") List<Election.Candidate> members) {
    for (String holder : List.of("m0", "m1", "gone")) {
      Election.Candidate elected = Election.elect(lease(holder), members);
      List<Election.Candidate> shuffled = new ArrayList<>(members);
      Collections.shuffle(shuffled, new Random(1));
      assertThat(Election.elect(lease(holder), shuffled)).isEqualTo(elected);
      assertThat(elected == null).isEqualTo(members.isEmpty());
    }
  }

  @Property
  void theLeaderStaysUnlessItIsStuckOrResigned(
      @ForAll("members") List<Election.Candidate> members) {
    for (Election.Candidate holder : members) {
      Election.Candidate elected = Election.elect(lease(holder.name()), members);
      boolean better = members.stream().anyMatch(each -> !each.stuck());
      if (!(holder.stuck() && better) && holder.resignedTerm() < TERM) {
        assertThat(elected).isEqualTo(holder);
      }
      if (better) {
        assertThat(elected.stuck()).isFalse();
      }
    }
  }

  @Property
  void whoResignedAtThisTermLeadsOnlyAlone(@ForAll("members") List<Election.Candidate> members) {
    for (Election.Candidate holder : members) {
      Election.Candidate elected = Election.elect(lease(holder.name()), members);
      boolean other =
          members.stream()
              .anyMatch(each -> !each.stuck() && each.resignedTerm() < holder.resignedTerm());
      if (holder.resignedTerm() == TERM && other) {
        assertThat(elected).isNotEqualTo(holder);
      }
    }
  }

  @Example
  void theFirstRegisteredComesNextAndWhoResignedComesLast() {
    Election.Candidate first = candidate("first", 1, 3, false);
    Election.Candidate second = candidate("second", 2, 0, false);
    Election.Candidate third = candidate("third", 3, 0, false);
    GroupLease free = new GroupLease("g", TERM, null, null);
    assertThat(Election.elect(free, List.of(first, second, third))).isEqualTo(second);
    assertThat(Election.elect(lease("gone"), List.of(third, first))).isEqualTo(third);
    assertThat(Election.elect(lease("first"), List.of(first, second)))
        .as("it resigned at an earlier term, and leads again")
        .isEqualTo(first);
    assertThat(Election.elect(free, List.of())).isNull();
  }
}
