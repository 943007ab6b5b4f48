package dev.evenkeel.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A topic as the meta log holds it.
 *
 * @param id unique number, never used again
 * @param name what users call it
 * @param layouts what shards it has: oldest first; the last one is open to producers, the others
 *     are sealed. At least one
 * @param dropped layouts before those, whose shards are gone: their data log groups can still tell
 *     which batches of a producer they had taken. Oldest first
 * @param next the layout that is being opened; null: none is
 * @param createdMillis milliseconds since 1970
 */
public record TopicInfo(
    int id,
    String name,
    List<Layout> layouts,
    List<Layout> dropped,
    @Nullable Layout next,
    TopicConfig config,
    State state,
    long createdMillis) {

  /** Most layouts of which the data log groups remember what they had taken. */
  public static final int DROPPED_LAYOUTS_MAX = 16;

  /** Most shards of those layouts, but at least one layout is remembered. */
  public static final int DROPPED_SHARDS_MAX = 1_024;

  /** CREATING → ACTIVE → DELETING → gone. */
  public enum State {
    /** Recorded, but not every log group has opened its shards yet. */
    CREATING,
    ACTIVE,
    /** Refuses everything, while log groups drop its shards. */
    DELETING
  }

  /**
   * Shards between two changes of their number. A key belongs to one shard of each layout. Numbers
   * of shards are never used again.
   *
   * @param first number of its first shard
   * @param shards how many there are, numbered from {@code first}
   * @param openedMillis since when producers write to it, milliseconds since 1970; 0: not yet
   * @param groups numbers of the data log groups that hold its shards, one after another and then
   *     from the first again; empty: those with which the cluster was formed, as {@link
   *     Shard#dataGroup} counts them
   */
  public record Layout(int first, int shards, long openedMillis, List<Integer> groups) {
    public Layout {
      groups = List.copyOf(groups);
    }

    /** Shards in the data log groups with which the cluster was formed. */
    public Layout(int first, int shards, long openedMillis) {
      this(first, shards, openedMillis, List.of());
    }

    /** The number behind the last shard. */
    public int end() {
      return first + shards;
    }

    public boolean has(int shard) {
      return shard >= first && shard < end();
    }

    public IntStream numbers() {
      return IntStream.range(first, end());
    }
  }

  public TopicInfo {
    if (layouts.isEmpty()) {
      throw new IllegalArgumentException("topic '" + name + "' without shards");
    }
  }

  /** A topic of which no layout is remembered. */
  public TopicInfo(
      int id,
      String name,
      List<Layout> layouts,
      @Nullable Layout next,
      TopicConfig config,
      State state,
      long createdMillis) {
    this(id, name, layouts, List.of(), next, config, state, createdMillis);
  }

  /** A topic whose number of shards has never changed. */
  public TopicInfo(
      int id, String name, int shards, TopicConfig config, State state, long createdMillis) {
    this(id, name, shards, List.of(), config, state, createdMillis);
  }

  /**
   * The same.
   *
   * @param groups as {@link Layout#groups} says
   */
  public TopicInfo(
      int id,
      String name,
      int shards,
      List<Integer> groups,
      TopicConfig config,
      State state,
      long createdMillis) {
    this(
        id,
        name,
        List.of(new Layout(0, shards, createdMillis, groups)),
        null,
        config,
        state,
        createdMillis);
  }

  public TopicInfo inState(State to) {
    return new TopicInfo(id, name, layouts, dropped, next, config, to, createdMillis);
  }

  public TopicInfo configured(TopicConfig to) {
    return new TopicInfo(id, name, layouts, dropped, next, to, state, createdMillis);
  }

  /**
   * With {@code shards} more numbers, which are to be opened.
   *
   * @param groups as {@link Layout#groups} says
   */
  public TopicInfo opening(int shards, List<Integer> groups) {
    Layout opened = new Layout(open().end(), shards, 0, groups);
    return new TopicInfo(id, name, layouts, dropped, opened, config, state, createdMillis);
  }

  /** The layout that was being opened is open; the one before is sealed. */
  public TopicInfo opened(long nowMillis) {
    List<Layout> all = new ArrayList<>(layouts);
    Layout last = Objects.requireNonNull(next);
    all.add(new Layout(last.first(), last.shards(), nowMillis, last.groups()));
    return new TopicInfo(id, name, List.copyOf(all), dropped, null, config, state, createdMillis);
  }

  /**
   * Without its oldest layout.
   *
   * @param remembered whether the data log groups can still tell what that layout had taken
   */
  public TopicInfo withoutOldest(boolean remembered) {
    List<Layout> rest = List.copyOf(layouts.subList(1, layouts.size()));
    List<Layout> gone = remembered ? withNewest(dropped, layouts.get(0)) : List.of();
    return new TopicInfo(id, name, rest, gone, next, config, state, createdMillis);
  }

  private static List<Layout> withNewest(List<Layout> dropped, Layout newest) {
    List<Layout> all = new ArrayList<>(dropped);
    all.add(newest);
    while (all.size() > 1
        && (all.size() > DROPPED_LAYOUTS_MAX
            || newest.end() - all.get(0).first() > DROPPED_SHARDS_MAX)) {
      all.remove(0);
    }
    return List.copyOf(all);
  }

  /** The lowest number of a shard of which a data log group can still tell what it had taken. */
  public int firstRemembered() {
    return dropped.isEmpty() ? layouts.get(0).first() : dropped.get(0).first();
  }

  /** Whether a shard that is gone was of one of the {@link #dropped} layouts. */
  public boolean remembers(int shard) {
    return dropped.stream().anyMatch(layout -> layout.has(shard));
  }

  /** The layout that producers write to. */
  public Layout open() {
    return layouts.get(layouts.size() - 1);
  }

  /** How many shards producers write to. */
  public int shards() {
    return open().shards();
  }

  /** Whether log groups hold its shards that the cluster was not formed with. */
  public boolean isPlaced() {
    // Loops, because every topic is asked when one has changed.
    return isPlaced(layouts) || isPlaced(dropped) || next != null && !next.groups().isEmpty();
  }

  private static boolean isPlaced(List<Layout> layouts) {
    for (Layout layout : layouts) {
      if (!layout.groups().isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /**
   * The data log group of a shard.
   *
   * @param formedGroups how many data log groups the cluster was formed with
   */
  public int group(int shard, int formedGroups) {
    Layout layout =
        next != null && next.has(shard)
            ? next
            : Stream.concat(dropped.stream(), layouts.stream())
                .filter(each -> each.has(shard))
                .findFirst()
                .orElse(null);
    return layout == null || layout.groups().isEmpty()
        ? new Shard(id, shard).dataGroup(formedGroups)
        : layout.groups().get((shard - layout.first()) % layout.groups().size());
  }

  /**
   * The layouts before the open one of which it can be learned what their shards took; oldest
   * first.
   */
  public List<Layout> former() {
    List<Layout> former = new ArrayList<>(dropped);
    former.addAll(layouts.subList(0, layouts.size() - 1));
    return former;
  }

  /** Whether its number of shards has changed, and former shards are still there. */
  public boolean hasSealed() {
    return layouts.size() > 1;
  }

  /** Whether there is such a shard, be it sealed. */
  public boolean has(int shard) {
    return shard >= layouts.get(0).first() && shard < open().end();
  }

  /** The same, if it is being opened, too. */
  public boolean hasEver(int shard) {
    return has(shard) || next != null && next.has(shard);
  }

  /** The numbers of all shards, in order. */
  public IntStream numbers() {
    return IntStream.range(layouts.get(0).first(), open().end());
  }

  /** The numbers of all shards, for people. */
  public String range() {
    return layouts.get(0).first() + " to " + (open().end() - 1);
  }

  /** The same as {@link Shard}s. */
  public List<Shard> all() {
    return numbers().mapToObj(number -> new Shard(id, number)).toList();
  }

  /** The numbers of all shards, those that are being opened too. */
  public IntStream numbersEver() {
    return next == null ? numbers() : IntStream.concat(numbers(), next.numbers());
  }

  /** Whether no producer writes to the shard any more. */
  public boolean isSealed(int shard) {
    return shard < open().first();
  }

  /**
   * The shards of the layout before from which keys can come to this shard, in order; empty if it
   * is of the oldest layout. A key with hash {@code h} is in shard {@code h mod m} of {@code m},
   * and then in {@code h mod n} of {@code n}; such an {@code h} exists if both are equal modulo the
   * greatest common divisor of {@code m} and {@code n}.
   */
  public List<Integer> parents(int shard) {
    int at = indexOf(shard);
    return at < 1 ? List.of() : related(shard, layouts.get(at), layouts.get(at - 1));
  }

  /** The shards of the next layout to which keys of this shard can go; empty if there are none. */
  public List<Integer> children(int shard) {
    int at = indexOf(shard);
    return at < 0 || at + 1 == layouts.size()
        ? List.of()
        : related(shard, layouts.get(at), layouts.get(at + 1));
  }

  /** The layout of a shard; null if it is in none. */
  public @Nullable Layout layoutOf(int shard) {
    int at = indexOf(shard);
    return at < 0 ? null : layouts.get(at);
  }

  private int indexOf(int shard) {
    for (int i = 0; i < layouts.size(); i++) {
      if (layouts.get(i).has(shard)) {
        return i;
      }
    }
    return -1;
  }

  private static List<Integer> related(int shard, Layout of, Layout in) {
    int divisor = gcd(of.shards(), in.shards());
    int rest = (shard - of.first()) % divisor;
    return in.numbers().filter(other -> (other - in.first()) % divisor == rest).boxed().toList();
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }
}
