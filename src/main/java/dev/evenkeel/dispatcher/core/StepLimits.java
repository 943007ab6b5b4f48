package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.StepPlace;
import dev.evenkeel.bus.StepReport;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.dispatcher.level.core.LevelPolicy;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Decides how far the tracks of one coordinator may go. No track is ever more than the range ahead
 * of another one that may still go on.
 *
 * <p><b>The bound.</b> A track may go up to a limit: the fewest steps that any track has reported,
 * plus the range. A track that comes begins at these fewest steps. They never get fewer, so a limit
 * that was given once stays right, and it does no harm if an answer comes late or twice.
 *
 * <p><b>Who counts.</b> A track counts until it says that it has ended or is set aside, or was
 * silent for its member timeout. By then it has stopped itself. It does not matter whether the
 * dispatcher takes it for gone: its connection may have broken, or another one may have its name.
 *
 * <p><b>A change of the dispatcher.</b> The new one must not forget a track that may still go on.
 * The list of tracks has a number, the <em>roster</em>, and every track reports the last one that
 * it heard of. A track gets its place only after all others have reported the list that it is in.
 * So when as many tracks have reported the newest list as are in it, the dispatcher knows all of
 * them. If that does not happen, it waits until every track that it has not heard has stopped
 * itself. Only reports count by which the track shows that it has heard of this dispatcher: others
 * may be older than it. Until then nobody gets a new limit or a place. A track that has heard of
 * this dispatcher takes nothing from an earlier one any more, and only then gets a place here.
 *
 * <pre>
 *             report              all others know it         aside
 * (unknown) ----------> waiting ---------------------> placed -----> aside
 *                          ^                            |  ^           |
 *                          `--- a later stay -----------+--+-----------'
 *   ended, or silent for its timeout: unknown again     (before all are known: report with steps)
 * </pre>
 *
 * <p>Times are milliseconds of the dispatcher's clock. Not thread-safe.
 */
final class StepLimits {
  /** Most tracks of one coordinator, with those that have ended and may still go on. */
  static final int TRACKS_MAX = 1_000;

  private static final int SERIAL_BITS = 32;

  /** A track as far as it is known. */
  private static final class Seat {
    final String name;
    final String instance;
    int stay;

    /** The last stay that is over. */
    int closedStay = -1;

    long steps = -1;
    long from = -1;
    boolean placed;

    /** It wants a place. */
    boolean enters;

    /** The first list that it is in; 0: it is in none. */
    long enteredRoster;

    boolean waiting;
    boolean fresh;
    long roster;
    int tracks;
    long untilMillis;
    StepPlace told;

    Seat(String name, String instance) {
      this.name = name;
      this.instance = instance;
    }
  }

  private final Map<String, Seat> seats = new TreeMap<>();
  private final long allKnownAtMillis;
  private int range;
  private int wantedRange;

  /** See {@link #fewest}. */
  private long floor;

  private boolean allKnown;
  private long roster;
  private int tracks;
  private boolean anyWaits;
  private String holder;
  private long heldSinceMillis;
  private long setAside;

  /**
   * @param term of the dispatcher
   * @param allKnownAtMillis when every track has stopped itself that an earlier dispatcher knew and
   *     this one does not; {@link Long#MIN_VALUE}: there was none
   */
  StepLimits(long term, long allKnownAtMillis) {
    this.allKnownAtMillis = allKnownAtMillis;
    roster = term << SERIAL_BITS;
  }

  /** Whether there is no room for this track. */
  boolean isFullFor(String instance) {
    return seats.size() >= TRACKS_MAX && !seats.containsKey(instance);
  }

  /**
   * Takes a report.
   *
   * @param fresh whether the track has had an answer of this dispatcher before
   * @param newRange holds as soon as no track is left to which another one was promised
   * @return false if the track must end: it was silent for longer than its timeout
   */
  boolean heard(
      String name,
      String instance,
      StepReport report,
      boolean fresh,
      int newRange,
      long timeoutMillis,
      long nowMillis) {
    expire(nowMillis);
    Seat seat = seats.get(instance);
    if (seat == null) {
      if (allKnown && report.steps() >= 0 && !report.aside()) {
        return false;
      }
      seat = new Seat(name, instance);
      seats.put(instance, seat);
    }
    if (report.stay() < seat.stay) {
      return true;
    }
    if (report.stay() > seat.stay) {
      closeStay(seat, report.stay() - 1);
      seat.stay = report.stay();
      seat.steps = -1;
    }
    seat.untilMillis = nowMillis + timeoutMillis;
    seat.fresh |= fresh;
    if (allKnown && report.roster() > roster) {
      // The list of another life of the cluster: that the track has heard of it says nothing.
      roster = report.roster();
      listChanged();
    } else if (report.roster() >= seat.roster) {
      seat.roster = report.roster();
      seat.tracks = report.tracks();
    }
    if (report.aside()) {
      if (seat.placed) {
        setAside++;
      }
      closeStay(seat, report.stay());
    } else if (report.stay() > seat.closedStay) {
      if (report.steps() < 0) {
        // Until then it may still take a place that an earlier dispatcher gave.
        boolean asksHere = seat.fresh || allKnownAtMillis == Long.MIN_VALUE;
        seat.enters = !seat.placed && asksHere;
      } else if (!seat.placed && allKnown) {
        return false;
      } else {
        seat.placed = true;
        seat.enters = false;
        seat.waiting = report.waiting() && report.steps() >= seat.steps;
        seat.steps = Math.max(seat.steps, report.steps());
      }
    }
    wantedRange = newRange;
    advance(nowMillis);
    return true;
  }

  /** A track has ended, and said so. */
  void left(String instance, long nowMillis) {
    remove(seats.get(instance));
    advance(nowMillis);
  }

  /** Time has passed. */
  void tick(long nowMillis) {
    expire(nowMillis);
    advance(nowMillis);
  }

  private void expire(long nowMillis) {
    for (Seat seat : List.copyOf(seats.values())) {
      if (nowMillis >= seat.untilMillis) {
        remove(seat);
      }
    }
  }

  private void remove(Seat seat) {
    if (seat != null) {
      seats.remove(seat.instance);
      unlist(seat);
      floor = seats.isEmpty() ? 0 : floor;
    }
  }

  private void closeStay(Seat seat, int stay) {
    seat.closedStay = Math.max(seat.closedStay, stay);
    unlist(seat);
  }

  private void unlist(Seat seat) {
    boolean listed = seat.placed || seat.enteredRoster != 0;
    seat.placed = false;
    seat.enters = false;
    seat.waiting = false;
    seat.enteredRoster = 0;
    seat.from = -1;
    if (allKnown && listed) {
      listChanged();
    }
  }

  private void listChanged() {
    roster++;
    tracks = (int) seats.values().stream().filter(s -> s.placed || s.enteredRoster != 0).count();
  }

  // ---- What follows

  private void advance(long nowMillis) {
    if (!allKnown && (nowMillis >= allKnownAtMillis || allHaveReported())) {
      allKnown = true;
      roster = Math.max(roster, newestRoster());
      listChanged();
    }
    if (placed().isEmpty() || range == 0) {
      range = wantedRange;
    }
    if (!allKnown) {
      return;
    }
    for (Seat seat : seats.values()) {
      if (seat.enters && seat.enteredRoster == 0) {
        seat.enteredRoster = roster + 1;
        listChanged();
      }
    }
    for (Seat seat : seats.values()) {
      if (seat.enters && range == wantedRange && seat.enteredRoster <= knownToAll()) {
        place(seat);
      }
    }
    floor = fewest();
    hold(nowMillis);
  }

  private long newestRoster() {
    return seats.values().stream()
        .filter(seat -> seat.placed)
        .mapToLong(seat -> seat.roster)
        .max()
        .orElse(0);
  }

  /** Whether all tracks of the newest list have reported it. */
  private boolean allHaveReported() {
    long newest = 0;
    int those = 0;
    int all = 0;
    for (Seat seat : seats.values()) {
      if (seat.placed && seat.fresh && seat.roster >= newest) {
        those = seat.roster > newest ? 1 : those + 1;
        newest = seat.roster;
        all = seat.tracks;
      }
    }
    return those > 0 && those == all;
  }

  /** The newest list of which all tracks with a place have heard. */
  private long knownToAll() {
    return placed().stream().mapToLong(seat -> seat.roster).min().orElse(Long.MAX_VALUE);
  }

  private void place(Seat seat) {
    seat.steps = fewest();
    seat.from = seat.steps;
    seat.placed = true;
    seat.enters = false;
    // The place tells it of this list.
    seat.roster = roster;
  }

  private Collection<Seat> placed() {
    return seats.values().stream().filter(seat -> seat.placed).toList();
  }

  /** The fewest steps of a track that counts; if none does, those at last, or 0 of new tracks. */
  long fewest() {
    return seats.values().stream()
        .filter(seat -> seat.placed)
        .mapToLong(seat -> seat.steps)
        .min()
        .orElse(floor);
  }

  private void hold(long nowMillis) {
    long fewest = fewest();
    anyWaits = placed().stream().anyMatch(seat -> waitsFor(seat, fewest));
    String now =
        anyWaits
            ? placed().stream()
                .filter(seat -> seat.steps == fewest)
                .map(seat -> seat.name)
                .findFirst()
                .orElse(null)
            : null;
    if (now == null || !now.equals(holder)) {
      heldSinceMillis = nowMillis;
    }
    holder = now;
  }

  /** Whether it waits for those that have the fewest steps. */
  private boolean waitsFor(Seat seat, long fewest) {
    return seat.waiting && seat.steps > fewest && seat.steps >= fewest + range;
  }

  /** What a track may do now; null if it is not known. It counts as told. */
  StepPlace place(String instance) {
    Seat seat = seats.get(instance);
    if (seat == null) {
      return null;
    }
    seat.told = next(seat, fewest());
    return seat.told;
  }

  private StepPlace next(Seat seat, long fewest) {
    if (!allKnown) {
      return new StepPlace(seat.stay, -1, -1, 0, 0, false);
    }
    boolean awaited = seat.placed && seat.steps == fewest && anyWaits;
    return new StepPlace(
        seat.stay,
        seat.placed ? seat.from : -1,
        seat.placed ? fewest + range : -1,
        roster,
        tracks,
        awaited);
  }

  /** Names of the tracks that should hear at once of what they may do. */
  Set<String> urgent() {
    Set<String> names = new LinkedHashSet<>();
    long fewest = fewest();
    boolean anyEnters = seats.values().stream().anyMatch(seat -> seat.enters);
    for (Seat seat : seats.values()) {
      StepPlace now = next(seat, fewest);
      StepPlace told = seat.told;
      boolean more = seat.waiting && now.limit() > told(seat);
      boolean placed = seat.placed && (told == null || told.stay() < seat.stay || told.limit() < 0);
      boolean list = anyEnters && seat.placed && (told == null || told.roster() < roster);
      boolean awaited = now.awaited() && (told == null || !told.awaited());
      if (more || placed || list || awaited) {
        names.add(seat.name);
      }
    }
    return names;
  }

  private static long told(Seat seat) {
    return seat.told == null ? -1 : seat.told.limit();
  }

  // ---- For those who look

  /** Whether a track may still go on. */
  boolean anyCounts() {
    return seats.values().stream().anyMatch(seat -> seat.placed);
  }

  /** Whether it knows of no track. */
  boolean isEmpty() {
    return seats.isEmpty();
  }

  /** How level the tracks are, as it is shown of groups in mode level; null: not known yet. */
  LevelFigures figures(long nowMillis) {
    if (!allKnown) {
      return null;
    }
    long fewest = fewest();
    long most = placed().stream().mapToLong(seat -> seat.steps).max().orElse(fewest);
    return new LevelFigures(
        1,
        range,
        LevelPolicy.Strategy.PULL,
        most - fewest,
        range == 0 ? 0 : fewest / range,
        holder,
        holder == null ? 0 : nowMillis - heldSinceMillis,
        setAside,
        0,
        0,
        seats.values().stream().map(StepLimits::bar).toList());
  }

  private static LevelFigures.Bar bar(Seat seat) {
    long steps = Math.max(0, seat.steps);
    return new LevelFigures.Bar(seat.name, seat.placed, steps, steps, 0);
  }
}
