package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.level.Checkpoint;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.BufferUnderflowException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a member is given to keep for the next dealer, as bytes that are its own to keep and nobody
 * else's to read.
 *
 * <pre>
 * u8 version (1), text name, varlong joined, base, finished, varint inHand, bool heard,
 * i32 count, (varlong joined, low, high) each, i64 term, i64 change,
 * i32 count, varlong each of the younger
 * </pre>
 *
 * <p>Of all that members give back, the one with the latest term and change tells who took part
 * when anybody was dealt anything for the last time that matters. Who is not among them was set
 * aside, or missed, while others went on.
 *
 * @param term of the dealer
 * @param change how often members had left this dealer's book or joined it
 * @param younger {@link Checkpoint#joined} of the members that joined later than this one
 */
record MemberCheckpoint(Checkpoint checkpoint, long term, long change, List<Long> younger) {
  private static final int VERSION = 1;

  static final Comparator<MemberCheckpoint> BY_TIME =
      Comparator.comparingLong(MemberCheckpoint::term).thenComparingLong(MemberCheckpoint::change);

  /** Numbers of all that took part. */
  Set<Long> members() {
    Set<Long> members = new HashSet<>(younger);
    members.add(checkpoint.joined());
    checkpoint.references().forEach(each -> members.add(each.joined()));
    return members;
  }

  byte[] encode() {
    Bytes out = new Bytes(64 + 24 * checkpoint.references().size() + 8 * younger.size());
    out.u8(VERSION).text(checkpoint.name());
    out.varlong(checkpoint.joined()).varlong(checkpoint.base()).varlong(checkpoint.finished());
    out.varint(checkpoint.inHand()).bool(checkpoint.heard());
    out.i32(checkpoint.references().size());
    for (Checkpoint.Reference each : checkpoint.references()) {
      out.varlong(each.joined()).varlong(each.low()).varlong(each.high());
    }
    out.i64(term).i64(change).i32(younger.size());
    younger.forEach(out::varlong);
    return out.toArray();
  }

  /** What {@code bytes} say, or null if they are none of ours. */
  static MemberCheckpoint decode(byte[] bytes) {
    if (bytes == null) {
      return null;
    }
    try {
      ByteReader in = new ByteReader(bytes);
      return in.u8() == VERSION ? decode(in) : null;
    } catch (RefusedException | BufferUnderflowException e) {
      return null;
    }
  }

  private static MemberCheckpoint decode(ByteReader in) {
    String name = in.text();
    long joined = in.varlong();
    long base = in.varlong();
    long finished = in.varlong();
    int inHand = in.varint();
    boolean heard = in.bool();
    List<Checkpoint.Reference> references = new ArrayList<>();
    for (int i = in.count(); i > 0; i--) {
      references.add(new Checkpoint.Reference(in.varlong(), in.varlong(), in.varlong()));
    }
    long term = in.i64();
    long change = in.i64();
    List<Long> younger = new ArrayList<>();
    for (int i = in.count(); i > 0; i--) {
      younger.add(in.varlong());
    }
    in.end();
    Checkpoint checkpoint = new Checkpoint(name, joined, base, finished, inHand, heard, references);
    return new MemberCheckpoint(checkpoint, term, change, younger);
  }
}
