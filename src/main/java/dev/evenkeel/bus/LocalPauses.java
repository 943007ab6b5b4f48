package dev.evenkeel.bus;

import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Shard;
import java.util.Set;

/** The pauses of groups as this node knows them. Safe for use from any thread. */
public interface LocalPauses {
  /** No group is paused. */
  LocalPauses NONE =
      new LocalPauses() {
        @Override
        public boolean isPaused(String group) {
          return false;
        }

        @Override
        public boolean isPaused(String group, Shard shard) {
          return false;
        }

        @Override
        public Set<Pause> of(String group) {
          return Set.of();
        }
      };

  /** Whether a group is paused as a whole. */
  boolean isPaused(String group);

  /** Whether a group gets no messages from a shard. */
  boolean isPaused(String group, Shard shard);

  /** What is paused of a group, as it is now. */
  Set<Pause> of(String group);
}
