package dev.evenkeel.gateway.access;

import dev.evenkeel.api.Need;
import dev.evenkeel.api.Permission;
import dev.evenkeel.api.Permission.Kind;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import java.util.Objects;

/**
 * Who asks, and what they may do. What no permission allows is denied.
 *
 * @param name of the user; null: the cluster has no users, and everybody may do everything
 * @param producerTag of ids of producers that are the user's, see {@link ProducerIds}; 0: none is
 */
public record Principal(String name, List<Permission> may, int producerTag) {
  /** Where there are no users. */
  public static final Principal ANYBODY = new Principal(null, List.of());

  /** Who may do nothing. */
  public static final Principal NOBODY = new Principal("", List.of());

  public Principal(String name, List<Permission> may) {
    this(name, may, name == null ? 0 : ProducerIds.tagOf(name));
  }

  /** Whether it is bound by permissions. */
  public boolean bound() {
    return name != null;
  }

  /** Whether it may know that a topic exists. */
  public boolean seesTopic(String topic) {
    return has(Need.seeTopic(Objects.requireNonNull(topic)));
  }

  /** Names, and patterns with a {@code *} at the end, of the topics that it may consume. */
  public List<String> topicsToConsume() {
    return may.stream()
        .filter(each -> each.kind() == Kind.CONSUME)
        .map(Permission::pattern)
        .toList();
  }

  /** The groups and topics that it may know of. */
  public GroupScope scope() {
    return bound()
        ? new GroupScope(patterns(Need.seeGroup("")), patterns(Need.seeTopic("")))
        : GroupScope.ALL;
  }

  /** Null: all names. */
  private List<String> patterns(Need need) {
    List<Permission> of = may.stream().filter(each -> need.kinds().contains(each.kind())).toList();
    return of.stream().anyMatch(each -> each.covers(Need.NO_NAME))
        ? null
        : of.stream().map(Permission::pattern).distinct().sorted().toList();
  }

  /** Whether it may know that a group exists. */
  public boolean seesGroup(String group) {
    return has(Need.seeGroup(Objects.requireNonNull(group)));
  }

  /** Whether it may see the nodes: everybody who may view or administer something. */
  public boolean seesNodes() {
    return has(Need.of(null, Kind.VIEW, Kind.ADMIN));
  }

  /** Whether it sees every topic and group. */
  public boolean seesAll() {
    return has(Need.seeAll());
  }

  /** A producer name is the user's own if it is, or begins with, the user's name and a dash. */
  public boolean mayUseProducer(String producer) {
    return !bound()
        || producer.equals(name)
        || producer.startsWith(name + "-")
        || has(Need.of(producer, Kind.PRODUCER));
  }

  /** Whether it has what something needs. */
  public boolean has(Need need) {
    return !bound()
        || name.equals(need.user())
        || may.stream()
            .anyMatch(
                each ->
                    need.kinds().contains(each.kind())
                        && (need.name() == null || each.covers(need.name())));
  }

  /**
   * @throws RefusedException FORBIDDEN, naming the permission that is missing
   */
  public void require(Need need) {
    if (!has(need)) {
      String name = need.name() == null ? "NAME, whatever the name" : need.name();
      String pattern = Need.NO_NAME.equals(name) ? "*" : name;
      throw denied(need.kinds().get(0).word() + ":" + pattern);
    }
  }

  /**
   * @throws RefusedException FORBIDDEN, naming the permission that is missing
   */
  public void require(Kind kind, String target) {
    require(Need.of(Objects.requireNonNull(target), kind));
  }

  /**
   * The refusal of something that this principal may not do.
   *
   * @param needed a permission that would do
   */
  public RefusedException denied(String needed) {
    return Refusal.FORBIDDEN.error("the user '%s' needs the permission %s", name, needed);
  }
}
