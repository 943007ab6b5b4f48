package dev.evenkeel.protocol;

import org.jspecify.annotations.Nullable;

/**
 * The one lease of a whole group, as the meta log holds it. Its term is the fencing token that user
 * code sees, and that grants of the group's shards name.
 *
 * @param group the group
 * @param term grows with every grant, also after the group was forgotten and came back; 0 before
 *     the first grant
 * @param holder who has it, for people: "dispatcher@NODE" or a member's name; null while nobody has
 *     it
 * @param instance which run of the holder, unique for ever; null while nobody has it
 */
public record GroupLease(
    String group, long term, @Nullable String holder, @Nullable String instance) {
  /** The lease of a group before the first grant. */
  public static GroupLease none(String group) {
    return new GroupLease(group, 0, null, null);
  }

  public boolean held() {
    return instance != null;
  }

  /** Whether that run has it at that term. */
  public boolean heldBy(String run, long atTerm) {
    return instance != null && instance.equals(run) && term == atTerm;
  }

  public GroupLease granted(String newHolder, String newInstance) {
    return new GroupLease(group, term + 1, newHolder, newInstance);
  }

  /** Nobody has it; the term stays. */
  public GroupLease released() {
    return new GroupLease(group, term, null, null);
  }

  @Override
  public String toString() {
    return "group lease of " + group + "@" + term + (held() ? " " + holder : " free");
  }
}
