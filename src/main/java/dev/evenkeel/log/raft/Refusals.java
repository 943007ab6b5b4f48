package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.INDETERMINATE;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.VoterId;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.LeaderSteppingDownException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;

/** Turns the engine's failures into refusals. */
final class Refusals {
  private Refusals() {}

  static RefusedException of(Throwable failure, boolean logged) {
    Throwable cause = unwrap(failure);
    if (logged) {
      return INDETERMINATE.error(
          "the entry was logged here, but not known to be committed: " + cause.getMessage());
    }
    if (cause instanceof NotLeaderException notLeader) {
      return new RefusedException.NotLeader(
          notLeader.getSuggestedLeader() == null
              ? null
              : VoterId.node(notLeader.getSuggestedLeader().getId().toString()));
    }
    if (cause instanceof ReconfigurationInProgressException) {
      return OVERLOADED.error("another change of voters is under way");
    }
    if (cause instanceof ResourceUnavailableException) {
      return OVERLOADED.error("too many entries are pending; try again after a pause");
    }
    if (cause instanceof LeaderNotReadyException) {
      return UNAVAILABLE.error("this node was just elected and is not ready yet");
    }
    if (cause instanceof LeaderSteppingDownException) {
      return UNAVAILABLE.error("this node is handing its leadership over");
    }
    return UNAVAILABLE.error("the entry did not get into the log: " + cause.getMessage());
  }

  static Throwable unwrap(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** The innermost message, which names the file or the fault. */
  static String reason(Throwable failure) {
    String reason = failure.toString();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null) {
        reason = cause.getClass().getSimpleName() + ": " + cause.getMessage();
      }
    }
    return reason.replace('\n', ' ');
  }
}
