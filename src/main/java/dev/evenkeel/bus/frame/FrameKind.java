package dev.evenkeel.bus.frame;

/**
 * Kinds of frames at the client port. A frame is, with all numbers big-endian:
 *
 * <pre>
 * u32 length of what follows, u8 version (1), u8 kind, u32 correlation, body
 * </pre>
 *
 * <p>The first frame of a client is HELLO. The node answers it with WELCOME, or with GOODBYE and
 * closes the connection. A text is {@code u16 length, UTF-8}.
 *
 * <pre>
 * kind          from    correlation        body
 * HELLO         client  0                  JSON, see {@link Hello}
 * WELCOME       node    0                  JSON, see {@link Welcome}
 * REQUEST       client  chosen by client   text address, u32 timeout in ms, bytes for the address
 * ANSWER        node    of the REQUEST     bytes from the address; empty for LISTEN
 * REFUSAL       node    of the REQUEST     u8 refusal (its number in Refusal), UTF-8 detail
 * LISTEN        client  chosen by client   text address: what comes there is pushed from now on
 * UNLISTEN      client  0                  text address
 * PUSH          node    0: no answer       text address, bytes
 *                       else: chosen by node
 * PUSH_ANSWER   client  of the PUSH        bytes
 * PING          both    any                empty; the other side returns it as PONG
 * PONG          both    of the PING        empty
 * GOODBYE       both    0                  UTF-8 reason; the sender closes the connection
 * TRACE         client  of the next        the span of this REQUEST, as {@code traceparent} of W3C
 *                       REQUEST            Trace Context; only to a node that {@link Welcome#traces}
 * </pre>
 *
 * <p>ANSWER and REFUSAL of a LISTEN have its correlation, like those of a REQUEST. A REFUSAL means
 * that the node gives up on the request: UNAVAILABLE and OVERLOADED say that it had no effect,
 * INDETERMINATE that it may have had one. What the address itself refuses is an ANSWER.
 */
public enum FrameKind {
  HELLO(1),
  WELCOME(2),
  REQUEST(3),
  ANSWER(4),
  REFUSAL(5),
  LISTEN(6),
  UNLISTEN(7),
  PUSH(8),
  PUSH_ANSWER(9),
  PING(10),
  PONG(11),
  GOODBYE(12),
  TRACE(13);

  private static final FrameKind[] BY_CODE = new FrameKind[14];

  static {
    for (FrameKind kind : values()) {
      BY_CODE[kind.code] = kind;
    }
  }

  private final int code;

  FrameKind(int code) {
    this.code = code;
  }

  /** Its number in a frame. */
  public int code() {
    return code;
  }

  /** The kind with that number, or null. */
  public static FrameKind ofCode(int code) {
    return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
