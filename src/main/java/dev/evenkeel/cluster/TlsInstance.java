package dev.evenkeel.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.DefaultNodeContext;
import com.hazelcast.instance.impl.DefaultNodeExtension;
import com.hazelcast.instance.impl.HazelcastInstanceFactory;
import com.hazelcast.instance.impl.Node;
import com.hazelcast.instance.impl.NodeExtension;
import com.hazelcast.internal.networking.Channel;
import com.hazelcast.internal.networking.ChannelInitializer;
import com.hazelcast.internal.server.ServerContext;
import dev.evenkeel.util.tls.TlsIdentity;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/**
 * Starts Hazelcast members that speak TLS with each other, both with a certificate.
 *
 * <p>Hazelcast has TLS only in its commercial edition. But a node's extension, which that edition
 * brings, says what is put into the pipelines of a connection, and anybody may bring one. This one
 * puts encryption between the socket and what the usual extension puts there. These are internal
 * classes of Hazelcast: {@code TlsInstanceTest} fails when another version of it is used, and what
 * it tests must then be looked at anew.
 */
final class TlsInstance {
  private TlsInstance() {}

  /** Blocks until the member has joined. */
  static HazelcastInstance start(Config config, TlsIdentity identity) {
    return HazelcastInstanceFactory.newHazelcastInstance(config, null, new Context(identity));
  }

  private static final class Context extends DefaultNodeContext {
    private final TlsIdentity identity;

    Context(TlsIdentity identity) {
      this.identity = identity;
    }

    @Override
    public NodeExtension createNodeExtension(Node node) {
      return new Extension(node, identity);
    }
  }

  private static final class Extension extends DefaultNodeExtension {
    private final TlsIdentity identity;

    Extension(Node node, TlsIdentity identity) {
      super(node);
      this.identity = identity;
    }

    @Override
    public Function<EndpointQualifier, ChannelInitializer> createChannelInitializerFn(
        ServerContext context) {
      Function<EndpointQualifier, ChannelInitializer> usual =
          super.createChannelInitializerFn(context);
      SSLContext tls = identity.context();
      return qualifier -> new Initializer(usual.apply(qualifier), tls);
    }
  }

  private record Initializer(ChannelInitializer usual, SSLContext context)
      implements ChannelInitializer {
    @Override
    public void initChannel(Channel channel) throws Exception {
      SSLEngine engine = context.createSSLEngine();
      engine.setUseClientMode(channel.isClientMode());
      engine.setNeedClientAuth(true);
      TlsChannel tls = new TlsChannel(channel, engine);
      // What is read passes the first handler first; what is written passes the last one last.
      channel.inboundPipeline().addLast(tls.decryption());
      usual.initChannel(channel);
      channel.outboundPipeline().addLast(tls.encryption());
    }
  }
}
