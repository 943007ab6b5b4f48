package dev.evenkeel.chaos;

/**
 * Something that a client, or whoever watches the cluster, saw. Times are nanoseconds of this
 * machine's monotonic clock, which all processes share. As text each is one line of words.
 */
sealed interface Event {
  long nanos();

  /** The event as a line without its end. */
  default String line() {
    StringBuilder line = new StringBuilder().append(nanos());
    if (this instanceof Joins e) {
      return line.append(" J ").append(e.member).toString();
    } else if (this instanceof Loses e) {
      return line.append(" X ").append(e.member).toString();
    } else if (this instanceof Sent e) {
      return line.append(" S ").append(e.key).append(' ').append(e.sequence).toString();
    } else if (this instanceof Acked e) {
      line.append(" A ").append(e.key).append(' ').append(e.sequence);
      return line.append(' ').append(e.shard).append(' ').append(e.offset).toString();
    } else if (this instanceof Unknown e) {
      return line.append(" U ").append(e.key).append(' ').append(e.sequence).toString();
    } else if (this instanceof Began e) {
      return handler(line.append(" B "), e.place).append(' ').append(e.attempt).toString();
    } else if (this instanceof Ended e) {
      return handler(line.append(" E "), e.place).append(e.well ? " ok" : " failed").toString();
    } else if (this instanceof Inaugurated e) {
      line.append(" T ").append(e.group).append(' ').append(e.member);
      return line.append(' ').append(e.term).toString();
    } else if (this instanceof Lease e) {
      line.append(" L ").append(e.group).append(' ').append(e.shard).append(' ').append(e.epoch);
      return line.append(' ').append(e.owner).append(' ').append(e.committed).toString();
    }
    throw new IllegalStateException(toString());
  }

  private static StringBuilder handler(StringBuilder line, Place place) {
    line.append(place.group).append(' ').append(place.member).append(' ').append(place.shard);
    return line.append(' ').append(place.offset).append(' ').append(place.epoch);
  }

  /** Null: the line is not whole, since its writer was killed. */
  static Event parse(String line) {
    String[] words = line.split(" ");
    if (words.length < 3) {
      return null;
    }
    long nanos = Long.parseLong(words[0]);
    return switch (words[1]) {
      case "J" -> new Joins(nanos, words[2]);
      case "X" -> new Loses(nanos, words[2]);
      case "S" -> new Sent(nanos, words[2], number(words[3]));
      case "A" ->
          new Acked(nanos, words[2], number(words[3]), number(words[4]), Long.parseLong(words[5]));
      case "U" -> new Unknown(nanos, words[2], number(words[3]));
      case "B" -> new Began(nanos, place(words), number(words[7]));
      case "E" -> new Ended(nanos, place(words), words[7].equals("ok"));
      case "T" -> new Inaugurated(nanos, words[2], words[3], Long.parseLong(words[4]));
      case "L" ->
          new Lease(
              nanos,
              words[2],
              number(words[3]),
              Long.parseLong(words[4]),
              words[5],
              Long.parseLong(words[6]));
      default -> throw new IllegalArgumentException(line);
    };
  }

  private static int number(String word) {
    return Integer.parseInt(word);
  }

  private static Place place(String[] words) {
    return new Place(
        words[2], words[3], number(words[4]), Long.parseLong(words[5]), Long.parseLong(words[6]));
  }

  /**
   * A message in the hands of a member.
   *
   * @param member the run of a program: another run of the same member has another name here
   */
  record Place(String group, String member, int shard, long offset, long epoch) {}

  /** A program is about to join its groups, as the member of that name. */
  record Joins(long nanos, String member) implements Event {}

  /** The member of that name has lost sight of the cluster, and joins it again. */
  record Loses(long nanos, String member) implements Event {}

  /**
   * A producer is about to send the message of a key with that sequence; each once, and in order.
   */
  record Sent(long nanos, String key, int sequence) implements Event {}

  /**
   * It was acknowledged.
   *
   * @param offset -1 if the log does not remember it
   */
  record Acked(long nanos, String key, int sequence, int shard, long offset) implements Event {}

  /** The producer gave it up: it may be in the log or not. */
  record Unknown(long nanos, String key, int sequence) implements Event {}

  record Began(long nanos, Place place, int attempt) implements Event {}

  record Ended(long nanos, Place place, boolean well) implements Event {}

  /** A member begins to lead its group. */
  record Inaugurated(long nanos, String group, String member, long term) implements Event {}

  /**
   * A lease as the cluster told it: the answer had come at that time.
   *
   * @param owner "-": nobody
   * @param committed -1 if it is not known
   */
  record Lease(long nanos, String group, int shard, long epoch, String owner, long committed)
      implements Event {}
}
