package dev.evenkeel.level;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Members that finish messages, and a keeper with a {@link LevelCounts} that hears of it later.
 * Deals and reports take any time, keepers are replaced, members come and go. Every finished
 * message is checked against true counts, pair by pair.
 */
final class LevelWorld {
  /** One live member, as it is. */
  private static final class Member {
    final String name;
    final long joined;
    long finished;
    int held;
    int unheard;
    Checkpoint checkpoint;
    final ArrayDeque<Deal> underWay = new ArrayDeque<>();

    /** Of each older member: what it had when this one joined, and when this one began. */
    final Map<Member, long[]> olderThan = new HashMap<>();

    Member(String name, long joined) {
      this.name = name;
      this.joined = joined;
    }
  }

  private record Deal(int count, Checkpoint checkpoint) {}

  private static final int MEMBERS_MOST = 6;

  private final Random random;
  private final Range range;
  private final List<Member> live = new ArrayList<>();
  private LevelCounts book;
  private long named;
  private long finishedInAll;

  /** How often members may yet wait for one another: once for each that a keeper took over. */
  private int standstillsLeft;

  LevelWorld(long seed, Range range) {
    this.random = new Random(seed);
    this.range = range;
    this.book = new LevelCounts(range);
  }

  long finishedInAll() {
    return finishedInAll;
  }

  void step() {
    if (live.isEmpty()) {
      join();
      return;
    }
    Member member = live.get(random.nextInt(live.size()));
    int what = random.nextInt(100);
    if (what < 25) {
      deal(member);
    } else if (what < 45) {
      arrive(member);
    } else if (what < 75) {
      finish(member);
    } else if (what < 92) {
      report(member);
    } else if (what < 95 && live.size() < MEMBERS_MOST) {
      join();
    } else if (what < 97) {
      leave(member);
    } else if (what == 97) {
      replaceKeeper();
    } else if (what == 98) {
      setAside();
    } else {
      giveBack(member);
    }
    assertThat(book.gap()).isLessThanOrEqualTo(range.steps());
  }

  void join() {
    Member member = new Member("m" + named++, named);
    enter(member);
  }

  private void enter(Member member) {
    book.join(member.name, 0);
    live.forEach(each -> member.olderThan.put(each, new long[] {each.finished, each.finished}));
    live.add(member);
  }

  private void leave(Member member) {
    live.remove(member);
    live.forEach(each -> each.olderThan.remove(member));
    book.leave(member.name);
  }

  private boolean setAside() {
    Optional<LevelCounts.Holder> holder = book.holder(0);
    holder.ifPresent(
        held ->
            live.stream()
                .filter(each -> each.name.equals(held.member()))
                .findFirst()
                .ifPresent(this::leave));
    return holder.isPresent();
  }

  private void deal(Member member) {
    int may = book.mayHandOut(member.name);
    if (may > 0) {
      int count = random.nextBoolean() ? may : 1 + random.nextInt(may);
      book.handedOut(member.name, count, 0);
      member.underWay.add(new Deal(count, book.checkpoint(member.name)));
    }
  }

  private void arrive(Member member) {
    Deal deal = member.underWay.poll();
    if (deal != null) {
      member.held += deal.count();
      member.checkpoint = deal.checkpoint();
    }
  }

  private void finish(Member member) {
    if (member.held == 0) {
      return;
    }
    if (member.finished == 0) {
      member.olderThan.forEach((older, at) -> at[1] = older.finished);
    }
    member.held--;
    member.unheard++;
    member.finished++;
    finishedInAll++;
    for (Member other : live) {
      long[] ofOther = member.olderThan.get(other);
      if (ofOther != null) {
        check(member, member.finished, other, other.finished - ofOther[1]);
      }
      long[] ofMember = other.olderThan.get(member);
      if (ofMember != null) {
        check(member, member.finished - ofMember[0], other, other.finished);
      }
    }
  }

  private void check(Member ahead, long its, Member behind, long theirs) {
    if (its - theirs > range.steps()) {
      throw new AssertionError(
          ahead.name + " has finished " + its + ", " + behind.name + " " + theirs + " since then");
    }
  }

  private void report(Member member) {
    if (member.unheard > 0) {
      int count = 1 + random.nextInt(member.unheard);
      member.unheard -= count;
      book.finished(member.name, count, 0);
    }
  }

  private void giveBack(Member member) {
    if (member.held > 0) {
      member.held--;
      book.givenBack(member.name, 1);
    }
  }

  /** What the old keeper dealt and did not arrive is lost, as is what was not reported yet. */
  private void replaceKeeper() {
    List<Checkpoint> told = new ArrayList<>();
    List<Member> untold = new ArrayList<>();
    for (Member each : live) {
      each.underWay.clear();
      each.unheard = 0;
      if (each.checkpoint == null) {
        untold.add(each);
      } else {
        told.add(each.checkpoint.with(each.finished, each.held));
      }
    }
    Collections.shuffle(told, random);
    book = LevelCounts.restore(range, told, 1, 0);
    standstillsLeft = told.size();
    for (Member each : untold) {
      live.remove(each);
      live.forEach(other -> other.olderThan.remove(each));
      each.olderThan.clear();
      enter(each);
    }
  }

  /** From here on all finish and report; then all must be dealt something again and again. */
  void goesOn() {
    rounds(2);
    Map<Member, Long> before = new HashMap<>();
    live.forEach(each -> before.put(each, each.finished));
    rounds(2 * live.size() + 2);
    live.forEach(
        each ->
            assertThat(each.finished).as(each.name).isGreaterThan(before.getOrDefault(each, 0L)));
  }

  void rounds(int count) {
    settle();
    for (int i = 0; i < count && !live.isEmpty(); i++) {
      long before = finishedInAll;
      List<Member> inAnyOrder = new ArrayList<>(live);
      Collections.shuffle(inAnyOrder, random);
      inAnyOrder.forEach(this::deal);
      settle();
      if (finishedInAll == before && standstillsLeft-- > 0) {
        assertThat(setAside()).as("somebody is to join again").isTrue();
        join();
        i--;
        continue;
      }
      assertThat(finishedInAll).as("dealing goes on").isGreaterThan(before);
    }
  }

  /** All that is dealt arrives, is finished and heard of. */
  private void settle() {
    for (Member each : live) {
      while (!each.underWay.isEmpty()) {
        arrive(each);
      }
      while (each.held > 0) {
        finish(each);
      }
      while (each.unheard > 0) {
        report(each);
      }
    }
  }
}
