package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the messages of a delayed batch waited before a reshard moved them. With it, the ids that
 * they had there still name them.
 *
 * @param places in the sealed shards, the oldest in front
 * @param absent a bit set: positions of messages of the batch as it was sent that are not in this
 *     one, up to its last message
 */
public record DelayedOrigin(List<Place> places, byte[] absent) {
  /**
   * A batch was resharded as often as this within the longest delay. Older places are forgotten.
   */
  private static final int PLACES_MAX = 64;

  /**
   * A place where the batch waited.
   *
   * @param serial of the batch in the sealed shard
   */
  public record Place(int shard, long serial) {}

  /** These places, and one more. */
  public static List<Place> later(List<Place> places, Place next) {
    List<Place> all = new ArrayList<>(places);
    all.add(next);
    return List.copyOf(all.subList(Math.max(0, all.size() - PLACES_MAX), all.size()));
  }

  public static void writePlaces(Bytes out, List<Place> places) {
    out.i32(places.size());
    places.forEach(place -> out.i32(place.shard()).i64(place.serial()));
  }

  /**
   * @throws MalformedException INVALID
   */
  public static List<Place> readPlaces(ByteReader in) {
    int count = in.i32();
    if (count < 1 || count > PLACES_MAX) {
      throw new MalformedException(Refusal.INVALID, count + " former places of a delayed batch");
    }
    List<Place> places = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      places.add(new Place(in.i32(), in.i64()));
    }
    return places;
  }

  void write(Bytes out) {
    writePlaces(out, places);
    out.blob(absent);
  }

  static DelayedOrigin read(ByteReader in) {
    List<Place> places = readPlaces(in);
    byte[] absent = in.blob();
    if (absent == null || absent.length > (1 << 16) / Byte.SIZE) {
      throw new MalformedException(Refusal.INVALID, "a moved batch without its positions");
    }
    return new DelayedOrigin(places, absent);
  }

  int bytes() {
    return Integer.BYTES
        + places.size() * (Integer.BYTES + Long.BYTES)
        + Integer.BYTES
        + absent.length;
  }
}
