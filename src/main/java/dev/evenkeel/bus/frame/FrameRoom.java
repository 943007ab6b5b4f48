package dev.evenkeel.bus.frame;

import dev.evenkeel.protocol.RefusedException;

/** The memory of frames that have not come whole, of all connections together. */
public interface FrameRoom {
  /** Without a limit: for a client, which has few connections, to nodes. */
  FrameRoom ENDLESS =
      new FrameRoom() {
        @Override
        public void take(int bytes) {
          // There is always room.
        }

        @Override
        public void give(int bytes) {
          // Nobody counts.
        }
      };

  /**
   * Takes room for more bytes, until {@link #give}.
   *
   * @throws RefusedException OVERLOADED if there is none; then nothing is taken, and the connection
   *     cannot go on
   */
  void take(int bytes);

  void give(int bytes);
}
