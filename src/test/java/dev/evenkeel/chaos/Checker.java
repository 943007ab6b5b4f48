package dev.evenkeel.chaos;

import dev.evenkeel.functional.LevelCheck;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Judges a run: what the log has in the end, and all events in the order of their times. What it
 * holds against it:
 *
 * <ul>
 *   <li><b>Acknowledged loss.</b> A message that was acknowledged is in the log, at the place that
 *       was said. Each message in the log was handled well in each group.
 *   <li><b>Doubling in the log.</b> A message that was sent once is in the log once, also if its
 *       outcome was unknown; nothing is there that nobody sent.
 *   <li><b>Doubling in a group.</b> In modes sharded and singleton no message begins under an epoch
 *       under which it has ended well. None begins for the first time at an offset that was
 *       committed before, under this epoch or a former one: what was handled and committed does not
 *       come again. (Messages that had failed, and those of their key behind them, may have been
 *       committed and wait; keys of which a message failed are left out.)
 *   <li><b>Order.</b> The sequences of a key ascend in the log. In mode sharded, with order key, a
 *       message begins only after the one before it of its key has ended well, under whatever
 *       epoch; in mode singleton, with order shard, only after the one before it in the shard.
 *   <li><b>Two owners.</b> Of one epoch of a shard there is one owner. Once a message began under a
 *       later epoch, or the cluster has told of its owner, none begins under a former one; except
 *       for {@link #GRACE_NANOS}, in which both sides may still have to notice that they lost each
 *       other. (In mode level the owner is the dispatcher, and handlers do not own.)
 *   <li><b>Epochs and terms.</b> They never go back: in the end no epoch is lower than one that was
 *       ever seen, and each leader that is inaugurated has a higher term than all before it.
 *   <li><b>Level range.</b> As {@link LevelCheck} has it, in the order in which handlers ended. A
 *       member that ended nothing for {@link #SILENT_NANOS}, or that lost sight of the cluster, may
 *       have been taken for lost, and came back at some time after the last that it had ended.
 * </ul>
 */
final class Checker {
  /** How long a former owner may go on without knowing; see design: invariant 2. */
  static final long GRACE_NANOS = 1_000_000_000L;

  /**
   * No dispatcher goes on without a connected member sooner: one that begins waits for 2 s for an
   * answer, in which the member may still end for a moment what it has in hand; and the member
   * timeout minus its margin is longer.
   */
  static final long SILENT_NANOS = 1_500_000_000L;

  /** One shard in the eyes of one group. */
  private static final class Leased {
    final Map<Long, String> ownerRuns = new HashMap<>();
    final Map<Long, String> ownersTold = new HashMap<>();
    final BitSet ended = new BitSet();

    /** What has ended well under each of the latest epochs. */
    final TreeMap<Long, BitSet> endedUnder = new TreeMap<>();

    long epoch;
    long epochSinceNanos;
    long committed;
    long committedUnder;

    BitSet under(long of) {
      BitSet set = endedUnder.computeIfAbsent(of, first -> new BitSet());
      if (endedUnder.size() > 8) {
        endedUnder.pollFirstEntry();
      }
      return set;
    }
  }

  private final MessageLog log;
  private final Violations violations;
  private final Map<String, List<Leased>> groups = new LinkedHashMap<>();
  private final Map<String, Integer> sentUpTo = new HashMap<>();
  private final Set<String> keysFailed = new HashSet<>();
  private final Map<String, Long> terms = new HashMap<>();
  private final Map<String, Long> termSinceNanos = new HashMap<>();
  private final Map<String, String> leaders = new HashMap<>();
  private final List<String> levelLines = new ArrayList<>();
  private final Map<String, Long> levelLastNanos = new HashMap<>();
  private final Set<String> levelLost = new HashSet<>();
  private final Map<String, Integer> levelLastLine = new LinkedHashMap<>();
  private final Map<String, Long> figures = new TreeMap<>();

  Checker(MessageLog log, List<String> groups, Violations violations) {
    this.log = log;
    this.violations = violations;
    for (String group : groups) {
      List<Leased> shards = new ArrayList<>();
      for (int shard = 0; shard < log.shards(); shard++) {
        shards.add(new Leased());
      }
      this.groups.put(group, shards);
    }
  }

  /** The next event by time. */
  void take(Event event) {
    if (event instanceof Event.Joins joins) {
      levelPlace(joins.member());
      levelLines.add(LevelCheck.MARK + " join " + joins.member());
    } else if (event instanceof Event.Loses loses) {
      levelLost.add(loses.member());
    } else if (event instanceof Event.Sent sent) {
      sentUpTo.merge(sent.key(), sent.sequence(), Math::max);
      count("sent");
    } else if (event instanceof Event.Acked acked) {
      acked(acked);
      count("acknowledged");
    } else if (event instanceof Event.Unknown) {
      count("unknown");
    } else if (event instanceof Event.Began began) {
      began(began);
    } else if (event instanceof Event.Ended ended) {
      ended(ended);
    } else if (event instanceof Event.Inaugurated inaugurated) {
      inaugurated(inaugurated);
    } else if (event instanceof Event.Lease lease) {
      lease(lease);
    }
  }

  private void count(String what) {
    figures.merge(what, 1L, Long::sum);
  }

  private void acked(Event.Acked acked) {
    long offset = log.offset(acked.key(), acked.sequence());
    boolean there =
        acked.offset() < 0
            ? offset >= 0
            : acked.offset() < log.end(acked.shard())
                && log.at(acked.shard(), acked.offset()).key().equals(acked.key())
                && log.at(acked.shard(), acked.offset()).sequence() == acked.sequence();
    if (!there) {
      violations.add("acknowledged loss: not in the log", acked + ", found at " + offset);
    }
  }

  // Handlers

  private static boolean isLevel(Event.Place place) {
    return place.group().equals(ChaosClient.LEVEL);
  }

  private void began(Event.Began began) {
    Event.Place place = began.place();
    if (place.offset() >= log.end(place.shard())) {
      violations.add("handled what the log does not have", began.toString());
      return;
    }
    Leased leased = groups.get(place.group()).get(place.shard());
    if (leased.ended.get((int) place.offset())) {
      count("redelivered " + place.group());
    }
    if (!isLevel(place)) {
      order(began, leased);
      owners(began, leased);
      doubling(began, leased);
    }
  }

  private void order(Event.Began began, Leased leased) {
    Event.Place place = began.place();
    boolean byKey = place.group().equals(ChaosClient.SHARDED);
    long before = byKey ? log.at(place.shard(), place.offset()).before() : place.offset() - 1;
    if (before >= 0 && !leased.ended.get((int) before)) {
      violations.add(
          "order by " + (byKey ? "key" : "shard"), began + " before the end of offset " + before);
    }
  }

  private void owners(Event.Began began, Leased leased) {
    Event.Place place = began.place();
    String owner = leased.ownerRuns.putIfAbsent(place.epoch(), place.member());
    if (owner != null && !owner.equals(place.member())) {
      violations.add("two owners of one epoch", began + ", owned by " + owner);
    }
    if (place.epoch() < leased.epoch) {
      long late = began.nanos() - leased.epochSinceNanos;
      figures.merge("overlap of owners, ms", late / 1_000_000, Math::max);
      if (late > GRACE_NANOS) {
        violations.add(
            "two owners at once",
            began + ", " + late / 1_000_000 + " ms after epoch " + leased.epoch + " began");
      }
    }
    seen(leased, place.epoch(), began.nanos());
  }

  private static void seen(Leased leased, long epoch, long nanos) {
    if (epoch > leased.epoch) {
      leased.epoch = epoch;
      leased.epochSinceNanos = nanos;
    }
  }

  private void doubling(Event.Began began, Leased leased) {
    Event.Place place = began.place();
    if (leased.under(place.epoch()).get((int) place.offset())) {
      violations.add("doubled under one epoch", began.toString());
    }
    boolean waited = keysFailed.contains(log.at(place.shard(), place.offset()).key());
    if (began.attempt() == 1
        && !waited
        && place.offset() < leased.committed
        && place.epoch() >= leased.committedUnder) {
      violations.add(
          "handled again after its commit",
          began + ", committed " + leased.committed + " under epoch " + leased.committedUnder);
    }
  }

  private void ended(Event.Ended ended) {
    Event.Place place = ended.place();
    if (place.offset() >= log.end(place.shard())) {
      return;
    }
    if (!ended.well()) {
      keysFailed.add(log.at(place.shard(), place.offset()).key());
      count("failed attempts");
      return;
    }
    Leased leased = groups.get(place.group()).get(place.shard());
    leased.ended.set((int) place.offset());
    leased.under(place.epoch()).set((int) place.offset());
    if (isLevel(place)) {
      levelLine(place, ended.nanos());
    }
  }

  private void levelLine(Event.Place place, long nanos) {
    String member = place.member();
    Long last = levelLastNanos.put(member, nanos);
    boolean silent = last != null && nanos - last > SILENT_NANOS;
    if (levelLost.remove(member) || silent) {
      markAfterLast(member, "maybe");
      count(silent ? "level: silences" : "level: connections lost");
    }
    levelPlace(member);
    levelLines.add(member + " " + place.shard() + "/" + place.offset());
  }

  /** What comes next is the member's last line. */
  private void levelPlace(String member) {
    levelLastLine.put(member, levelLines.size());
  }

  /** With the member's last line, so that the places of others' lines stay. */
  private void markAfterLast(String member, String mark) {
    int at = levelLastLine.get(member);
    levelLines.set(at, levelLines.get(at) + "\n" + LevelCheck.MARK + " " + mark + " " + member);
  }

  // Leases and leaders

  private void inaugurated(Event.Inaugurated begins) {
    String group = begins.group();
    long highest = terms.getOrDefault(group, 0L);
    count("leaders");
    if (begins.term() == highest && !begins.member().equals(leaders.get(group))) {
      violations.add("two leaders of one term", begins + " and " + leaders.get(group));
    } else if (begins.term() < highest
        && begins.nanos() - termSinceNanos.get(group) > GRACE_NANOS) {
      violations.add("a term went back", begins + " after term " + highest);
    } else if (begins.term() > highest) {
      terms.put(group, begins.term());
      termSinceNanos.put(group, begins.nanos());
      leaders.put(group, begins.member());
    }
  }

  private void lease(Event.Lease lease) {
    Leased leased = groups.get(lease.group()).get(lease.shard());
    if (!lease.owner().equals("-")) {
      String told = leased.ownersTold.putIfAbsent(lease.epoch(), lease.owner());
      if (told != null && !told.equals(lease.owner())) {
        violations.add("two owners of one epoch", lease + ", before owned by " + told);
      }
      seen(leased, lease.epoch(), lease.nanos());
    }
    if (lease.committed() > leased.committed) {
      leased.committed = lease.committed();
      leased.committedUnder = lease.epoch();
    }
  }

  /**
   * @param leases as they are in the end
   * @param lastTerms of groups in mode singleton, as they are in the end
   */
  void end(List<Event.Lease> leases, Map<String, Long> lastTerms) {
    for (Event.Lease lease : leases) {
      Leased leased = groups.get(lease.group()).get(lease.shard());
      if (lease.epoch() < leased.epoch) {
        violations.add("an epoch went back", lease + " after epoch " + leased.epoch);
      }
      if (lease.committed() >= 0 && lease.committed() < leased.committed) {
        violations.add("a commit went back", lease + " after " + leased.committed);
      }
    }
    lastTerms.forEach(
        (group, term) -> {
          if (term < terms.getOrDefault(group, 0L)) {
            violations.add("a term went back", group + " has " + term + " after " + terms);
          }
        });
    complete();
    level();
  }

  private void complete() {
    groups.forEach(
        (group, shards) -> {
          for (int shard = 0; shard < shards.size(); shard++) {
            BitSet ended = shards.get(shard).ended;
            for (int offset = ended.nextClearBit(0);
                offset < log.end(shard);
                offset = ended.nextClearBit(offset + 1)) {
              violations.add(
                  "loss: never handled in group " + group,
                  shard + "/" + offset + " " + log.at(shard, offset));
            }
          }
        });
    for (int shard = 0; shard < log.shards(); shard++) {
      for (long offset = 0; offset < log.end(shard); offset++) {
        MessageLog.Entry entry = log.at(shard, offset);
        if (entry.sequence() > sentUpTo.getOrDefault(entry.key(), -1)) {
          violations.add("log: never sent", entry + " at " + shard + "/" + offset);
        }
      }
    }
    figures.put("in the log", log.messages());
  }

  private void level() {
    levelLastLine.keySet().forEach(member -> markAfterLast(member, "out"));
    List<String> lines = levelLines.stream().flatMap(String::lines).toList();
    LevelCheck check = new LevelCheck(ChaosClient.RANGE, Set.of(), lines);
    check.broken().forEach(broken -> violations.add("level range", broken));
    figures.put("level: gap", (long) check.gap());
  }

  /** Counts, and the largest of some times. */
  Map<String, Long> figures() {
    return figures;
  }
}
