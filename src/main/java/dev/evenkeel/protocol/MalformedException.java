package dev.evenkeel.protocol;

/**
 * Bytes cannot be read: they are malformed, or of a form that this build does not know. It is a
 * refusal for whoever sent them. For a log entry or a record of the state, it means that the node
 * cannot go on.
 */
public final class MalformedException extends RefusedException {
  private static final long serialVersionUID = 1L;

  public MalformedException(Refusal refusal, String detail) {
    super(refusal, detail);
  }
}
