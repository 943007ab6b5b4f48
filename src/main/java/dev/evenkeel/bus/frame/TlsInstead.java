package dev.evenkeel.bus.frame;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/** INVALID: the peer speaks TLS, and this side does not. */
public final class TlsInstead extends RefusedException {
  private static final long serialVersionUID = 1L;

  TlsInstead() {
    super(Refusal.INVALID, "TLS, but this side of the connection speaks none");
  }
}
