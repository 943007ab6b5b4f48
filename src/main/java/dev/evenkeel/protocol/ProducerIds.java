package dev.evenkeel.protocol;

import dev.evenkeel.util.Sha256;
import java.nio.ByteBuffer;

/**
 * Who may use the id of a producer. The meta log group counts ids; above the count, an id carries a
 * tag of the user who registered it, or of the group whose handlers publish under it. So every node
 * can check an id without asking anybody, and no id can be used by guessing its number.
 *
 * <pre>
 * bit 62       with bit 60: the producer has a name, and bits 0-59 are a hash of it;
 *              without: a node moves delayed batches
 * bit 61       a spool sends again what was not taken, see {@link SpoolPublisher}
 * bit 60       the tag is that of a group
 * bits 40-59   tag; 0: one that was registered before ids had tags
 * bits 0-39    number
 * </pre>
 *
 * <p>A name that is forgotten and comes back has the same id. Names that were registered before ids
 * had tags have counted ids without a tag.
 *
 * <p>A tag is a part of a hash: the tags of two names are equal with a probability of 2^-20.
 */
public final class ProducerIds {
  private static final int NUMBER_BITS = 40;
  private static final int TAG_BITS = 20;
  private static final long NUMBER = (1L << NUMBER_BITS) - 1;
  private static final int TAG = (1 << TAG_BITS) - 1;
  private static final long OF_GROUP = 1L << NUMBER_BITS + TAG_BITS;
  private static final long OF_NAME = 1L << 62;

  /** The tag of nodes, and of programs that are members of the cluster. */
  private static final int MEMBERS = TAG;

  private ProducerIds() {}

  /** The number that the meta log group has counted; 0: it is the id of a name. */
  public static long number(long id) {
    return isOfName(id) ? 0 : id & NUMBER;
  }

  /** The tag; 0: it has none. */
  public static int tag(long id) {
    return isOfName(id) ? 0 : (int) (id >>> NUMBER_BITS) & TAG;
  }

  /** Whether handlers of a group publish under it. */
  public static boolean isOfGroup(long id) {
    return !isOfName(id) && (id & OF_GROUP) != 0;
  }

  /** Whether it is the id of a name, see {@link #ofName}, or a node's own: it has no tag. */
  public static boolean isOfName(long id) {
    return (id & OF_NAME) != 0;
  }

  /**
   * The id of a name: the ids of two names are equal with a probability of 2^-60. None is that of a
   * node, whatever names somebody tries.
   */
  public static long ofName(String name) {
    return OF_NAME | OF_GROUP | ByteBuffer.wrap(Sha256.of(name)).getLong() & (OF_GROUP - 1);
  }

  /** Whether a tag is that of nodes, and of programs that are members of the cluster. */
  public static boolean isOfMembers(int tag) {
    return tag == MEMBERS;
  }

  /** The tag of a user or group. */
  public static int tagOf(String name) {
    // Neither 0 nor that of members.
    return 1 + Math.floorMod(ByteBuffer.wrap(Sha256.of(name)).getInt(), TAG - 1);
  }

  /** The id for a user who has registered it. */
  public static long ofUser(long id, String user) {
    return with(id, tagOf(user));
  }

  /** The id for a member of the cluster that has registered it. */
  public static long ofMember(long id) {
    return with(id, MEMBERS);
  }

  /** The id under which handlers of a group publish, for one that a member of it has registered. */
  public static long ofGroup(long id, String group) {
    return with(id, tagOf(group)) | OF_GROUP;
  }

  private static long with(long id, int tag) {
    return number(id) | (long) tag << NUMBER_BITS;
  }
}
