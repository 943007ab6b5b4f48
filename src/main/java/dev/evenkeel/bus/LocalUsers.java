package dev.evenkeel.bus;

import dev.evenkeel.protocol.ClusterUser;
import java.util.List;

/** The users that the cluster keeps, as this node knows them. Safe for use from any thread. */
public interface LocalUsers {
  /** Nobody. */
  LocalUsers NONE =
      new LocalUsers() {
        @Override
        public Object version() {
          return this;
        }

        @Override
        public List<ClusterUser> all() {
          return List.of();
        }
      };

  /**
   * Another object after each change.
   *
   * @return null: since its start, this node has not yet known all that was decided until then
   */
  Object version();

  /** All of them, by name; a copy. They are at least as new as a version that was read before. */
  List<ClusterUser> all();
}
