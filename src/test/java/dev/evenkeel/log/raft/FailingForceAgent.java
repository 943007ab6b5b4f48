package dev.evenkeel.log.raft;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.matcher.ElementMatchers;

/**
 * Makes every {@code FileChannel.force} fail as soon as the file named by the system property
 * {@value #FLAG} exists, as a disk does that cannot write any more.
 */
public final class FailingForceAgent {
  static final String FLAG = "evenkeel.test.failForce";

  private FailingForceAgent() {}

  public static void premain(String arguments, Instrumentation instrumentation) {
    new AgentBuilder.Default()
        .disableClassFormatChanges()
        .ignore(ElementMatchers.none())
        .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
        .type(ElementMatchers.named("sun.nio.ch.FileChannelImpl"))
        .transform(
            (builder, type, loader, module, domain) ->
                builder.visit(
                    Advice.to(Force.class)
                        .on(ElementMatchers.named("force").and(ElementMatchers.isPublic()))))
        .installOn(instrumentation);
  }

  /** Copied into the method; it may name classes of java.base only. */
  static final class Force {
    private Force() {}

    @Advice.OnMethodEnter
    static void enter() throws IOException {
      if (new File(System.getProperty("evenkeel.test.failForce")).exists()) {
        throw new IOException("injected: the disk cannot write");
      }
    }
  }
}
