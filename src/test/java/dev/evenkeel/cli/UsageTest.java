package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class UsageTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /** Making it takes much longer than reading arguments, which begins anew each time. */
  private static final CommandLine SHARED = Main.commandLine();

  private int execute(String... args) {
    return execute(Main.commandLine(), args);
  }

  private int execute(CommandLine line, String... args) {
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return line.execute(args);
  }

  /** The expected error message, followed by the words of the command line. */
  private static List<String> wrong(String expected, String line) {
    return Stream.concat(Stream.of(expected), Stream.of(line.split(" "))).toList();
  }

  static Stream<List<String>> wrong() {
    return Stream.of(
        List.of("a command is missing"),
        wrong("did you mean 'serve'?", "serv"),
        wrong("nonsense", "nonsense"),
        wrong("--every 'often'", "demo --every often"),
        wrong("port is 'x'", "demo --port x"),
        wrong("unknown option '--peers'", "demo --peers a"),
        wrong("did you mean '--port'?", "serve --prot 1"),
        wrong("--htp-port", "serve --htp-port 8080"),
        wrong("port is 'x'", "serve --port x"),
        wrong("there is no such file", "serve --conf /no/such"),
        wrong("Missing required parameter", "produce"),
        wrong("no capture group", "produce t --key-regex abc"),
        wrong("Unclosed group", "produce t --key-regex (a"),
        wrong("mutually exclusive", "produce t --key-regex (a) --key-json b"),
        wrong("--rate '0': write a number above 0, and at most", "produce t --rate 0"),
        List.of("bad topic name", "produce", "a b"),
        wrong("--acks 'some': use none", "produce t --acks some"),
        wrong("only with --acks all", "produce t --acks-timeout 2s"),
        wrong("write 200ms", "produce t --acks all --acks-timeout 2"),
        wrong("with --spool it is majority", "produce t --acks all --spool d"),
        wrong("--spool-limit: only with --spool", "produce t --spool-limit 1GiB"),
        wrong("--spool-restart: only with --spool", "produce t --spool-restart"),
        wrong("at least 32MiB", "produce t --spool x --spool-limit 1MiB"),
        wrong("--spool-limit 'much'", "produce t --spool x --spool-limit much"),
        wrong("never, interval or always", "produce t --spool=x --spool-fsync=often"),
        wrong("--header 'x': write NAME=VALUE", "produce t --header x"),
        wrong("--header '=x': write NAME=VALUE", "produce t --header =x"),
        wrong("--header 'a' is given twice", "produce t --header=a=1 --header=a=2"),
        List.of("at most 32768", "produce", "t", "--header", "a=" + "x".repeat(32_768)),
        List.of("bad producer name", "produce", "t", "--name", "a b"),
        wrong("--spool-resend: only with --spool", "produce t --spool-resend"),
        wrong("latency, failover, rebalance, level, dedup, delay or filter", "bench"),
        wrong("here they are --lingers", "bench batching --linger 5ms"),
        wrong("see --cluster", "bench produce --http http://h:1"),
        wrong("CLASS|ADDRESS", "run"),
        wrong("--instances '0': write a whole number from 1 to 1000", "run a.B --instances 0"),
        wrong("--instances '1001': write", "run a.B --instances=1001"),
        wrong("--instances 'x': write", "run a.B --instances=x"),
        wrong("there is no such file", "run a.B --conf /no/such"),
        wrong("/no/such: there is no such file or directory", "run a.B --classpath /no/such"),
        wrong("there is no class 'a.B'", "run a.B"),
        wrong("java.lang.String is not a verticle", "run java.lang.String"),
        wrong("needs 'group' and 'topics'", "run orders.in"),
        run("--port is a setting of a node: add --node ID", "--port=1"),
        run("did you mean '--port'?", "--prot=1"),
        run("--peer-tls is a setting of a member of the event bus or a node", "--peer-tls=d"),
        run("--data is a setting of a node", "--member", "--data=d"),
        run("leave them out, or --node", "--node=n1", "--member"),
        run("leave them out, or --node", "--node=n1", "--cluster=h:1"),
        run("port is 'x'", "--node=n1", "--port=x"),
        run("there is no such file", "--node-conf=/no/such"),
        run("--cluster: bad address 'h'", "--cluster=h"),
        wrong("--http 'h:1'", "bench produce --cluster h:1 --http h:1"),
        wrong("at least two parts", "bench flat --bytes 1GiB"),
        wrong("it must hold a message", "bench flat --part 10B"),
        wrong("measures all of them", "bench compression --compression zstd"),
        wrong("its own only", "bench recovery --cluster h:1"),
        wrong("--entries '99'", "bench recovery --entries 99"),
        wrong("--rate '0': write a number above 0, and at most", "bench single --rate 0"),
        wrong("--nodes 2", "bench produce --nodes 2"),
        wrong("mutually exclusive", "bench produce --nodes=1 --cluster=h:1"),
        wrong("--size 'big'", "bench produce --size big"),
        wrong("at most 1MiB", "bench produce --size 2MiB"),
        wrong("--keys '-1'", "bench produce --keys -1"),
        wrong("use none, majority or all", "bench produce --acks one"),
        wrong("--duration '0s'", "bench produce --duration 0s"),
        wrong("--warmup 'x'", "bench produce --warmup x"),
        wrong("--consumers '0': write a whole number", "bench consume --consumers 0"),
        wrong("--rate '0': write a number above 0, and at most", "bench latency --rate 0"),
        wrong("needs 8 bytes", "bench latency --size 4B"),
        wrong("its own only", "bench failover --cluster h:1"),
        wrong("needs 3", "bench failover --nodes 1"),
        wrong("use leave, kill or vanish", "bench rebalance --kinds leave,gone"),
        wrong("--consumers 12", "bench rebalance --consumers 12"),
        wrong("--range '0': write a whole number from 1 to", "bench level --range 0"),
        wrong("--work 'long'", "bench level --work long"),
        wrong("--duration '0s'", "bench level --duration 0s"),
        wrong("--payloads '0': write a whole number", "bench dedup --payloads 0"),
        wrong("--work 'long'", "bench dedup --work long"),
        wrong("--group", "consume t"),
        wrong("use sharded, level, singleton or broadcast", "consume t --group g --mode even"),
        wrong(
            "--range 10 in --mode sharded: only --mode level has one",
            "consume t --group=g --range=10"),
        wrong(
            "--strategy in --mode sharded: only --mode level has one",
            "consume t --group=g --strategy=push"),
        wrong("only --mode level", "consume t --group=g --stall-timeout=2s"),
        single("--assignor in --mode singleton: one member has all", "--assignor=sticky"),
        single("--range 10 in --mode singleton: only --mode level has one", "--range=10"),
        level("--range '0': write a whole number from 1 to 1000000", "--range=0"),
        level("--range 'abc': write a whole number from 1 to 1000000", "--range=abc"),
        level("--range '1000001'", "--range=1000001"),
        level("--range", "--range=many"),
        level("--strategy", "--strategy=throw"),
        level("--stall-timeout is 200ms: at least 1s is needed", "--stall-timeout=200ms"),
        level("--stall-timeout 'soon'", "--stall-timeout=soon"),
        level("--assignor: in --mode level no member owns shards", "--assignor=sticky"),
        level("--on-assign: in --mode level", "--on-assign=cat"),
        level("--on-release: in --mode level", "--on-release=cat"),
        level("--stuck-timeout: in --mode level", "--stuck-timeout=5s"),
        level("--crash-lock-time: in --mode level", "--crash-lock-time=5s"),
        wrong("--dedup", "consume t --group g --dedup value"),
        wrong(
            "--dedup-timeout is given: without --dedup nothing has one",
            "consume t --group=g --dedup-timeout=2s"),
        wrong(
            "--dedup-timeout is 2ms: at least 1s is needed",
            "consume t --group=g --dedup=key --dedup-timeout=2ms"),
        level("--dedup in --mode level: only --mode sharded has it", "--dedup=key"),
        wrong(
            "--offsets and --on-damaged-offsets are for --mode broadcast",
            "consume t --group=g --offsets=x"),
        wrong(
            "--on-damaged-offsets are for --mode broadcast",
            "consume t --group=g --on-damaged-offsets=latest"),
        wrong("needs --offsets DIR", "consume t --group=g --mode=broadcast"),
        broadcast("--on-damaged-offsets", "--on-damaged-offsets=guess"),
        broadcast("there are no dead letters", "--on-failure=dead-letter"),
        broadcast("--dedup in --mode broadcast: only --mode sharded has it", "--dedup=key"),
        broadcast("--assignor: in --mode broadcast no member owns shards", "--assignor=sticky"),
        broadcast("--on-release: in --mode broadcast", "--on-release=cat"),
        broadcast("--range 3 in --mode broadcast: only --mode level", "--range=3"),
        level("--on-failure stop in --mode level", "--on-failure=stop"),
        wrong(
            "--retry-delays '1s,soon': write 200ms, 5s, 2m or 1h",
            "consume t --group=g --retry-delays=1s,soon"),
        wrong("--retry-delays ''", "consume t --group=g --retry-delays="),
        wrong("with commas between several", "consume t --group=g --retry-delays=x"),
        wrong("--assignor needs a name", "consume t --group=g --assignor="),
        wrong("consume: bad filter 'x'", "consume t --group=g --filter=x"),
        wrong(
            "write 0, or a whole number from 3 to 1000: the third death",
            "consume t --group=g --crashes-max=1"),
        wrong("--acks-timeout is 0ms: at least 1ms", "produce t --acks-timeout=0s"),
        List.of("the name is empty: write one", "topic", "messages", ""),
        List.of("the name is empty", "topic", "configure", "", "--retention=1d"),
        wrong("--copy-from '': write the name", "topic configure t --copy-from="),
        wrong("use retry, dead-letter or stop", "consume t --group=g --on-failure=go"),
        wrong("--rate '1': bad rate '1': write 100/s", "consume t --group=g --rate=1"),
        wrong("--rate '0/s': a rate of 0", "consume t --group=g --rate=0/s"),
        wrong("--key-rate '1/2d'", "consume t --group=g --key-rate=1/2d"),
        wrong("only with --key-rate", "consume t --group=g --rate-by=key"),
        wrong("only with --key-rate", "consume t --group=g --over-rate=wait"),
        level("--rate and --key-rate in --mode level", "--rate=1/s"),
        keyRate("use wait, drop-oldest or drop-newest", "--over-rate=drop"),
        keyRate("--over-rate drops nothing with --order shard", "--over-rate=drop-newest"),
        wrong(
            "--over-rate drops together with --dedup",
            "consume t --group=g --order=key --key-rate=1/s --over-rate=drop-newest --dedup=key"),
        keyRate("--rate-by", "--rate-by=value"),
        wrong("give --exec, too", "consume t --group=g --exec-timeout=1m"),
        wrong("--exec-timeout 'soon'", "consume t --group=g --exec=x --exec-timeout=soon"),
        wrong("--max '0': write a whole number", "consume t --group g --max 0"),
        wrong("--idle-exit '5'", "consume t --group g --idle-exit 5"),
        wrong("--idle-exit 'soon'", "consume t --group g --idle-exit soon"),
        wrong("--order", "consume t --group g --order random"),
        wrong("--parallel '0': write a whole number", "consume t --group g --parallel 0"),
        wrong("--parallel '2000': write a whole", "consume t --group g --parallel 2000 --exec cat"),
        wrong("--from 'never'", "consume t --group g --from never"),
        wrong("--shards", "topic create t"),
        wrong("--shards", "topic create t --shards many"),
        wrong("--shards '0': write a whole number from 1 to", "topic create t --shards 0"),
        wrong("--retention 'x'", "topic create t --shards=1 --retention=x"),
        wrong("or --copy-from TOPIC", "topic create t"),
        wrong("--max-age 'x': write 200ms, 5s, 2m or 1h; or off", "topic create t --max-age=x"),
        wrong("give --retention, --max-age", "topic configure t"),
        wrong("--retention 'off'", "topic configure t --retention=off"),
        wrong("1GiB; or off", "topic configure t --max-shard-bytes=1GB"),
        wrong("did you mean '--max-age'?", "topic configure t --maxage=1d"),
        wrong("unknown option '--shards'", "topic configure t --shards=3"),
        wrong("Missing required parameter", "topic messages"),
        wrong("--shard '-1': write a whole number of at least 0", "topic messages t --shard=-1"),
        wrong("--offset '-1': write a whole number of at least 0", "topic messages t --offset=-1"),
        wrong("--limit '0': write a whole number of at least 1", "topic messages t --limit=0"),
        wrong("give one of them", "topic messages t --offset=1 --at=latest"),
        wrong("--at 'noon': write earliest", "topic messages t --at=noon"),
        wrong("--format 'xml': use text or json", "topic messages t --format=xml"),
        wrong("unknown option '--group'", "topic messages t --group=g"),
        wrong("unknown command 'split'", "topic split t"),
        wrong("--to", "group reset g"),
        wrong("'soon' is not a position", "group reset g --to soon"),
        wrong(
            "--shard '-1': write a whole number of at least 0", "group reset g --to 7 --shard -1"),
        wrong("--shards 'many': write a whole number from 1 to", "topic create t --shards=many"),
        wrong("--limit '1.5': write a whole", "delayed list t --limit=1.5"),
        wrong("--limit 'all': write a whole", "group dead-letters list g --limit=all"),
        wrong("--limit '9999': write a", "group rebalances g --limit=9999"),
        wrong("--max 'x': write a whole", "consume t --group g --max x"),
        wrong("--rate 'fast': write a number above 0", "produce t --rate fast"),
        wrong("needs --topic", "group pause g --shard 1"),
        wrong(
            "--shard '-1': write a whole number of at least 0",
            "group resume g --topic t --shard -1"),
        wrong(
            "list, describe, rebalances, plan, pause, resume, reset, delete or dead-letters",
            "group"),
        wrong("--delivery 'twice': use at-most-once", "consume t --group g --delivery twice"),
        wrong(
            "--delivery at-most-once: only --mode sharded has it",
            "consume t --group=g --mode=level --delivery=at-most-once"),
        wrong(
            "only --mode sharded has it",
            "consume t --group=g --mode=singleton --delivery=at-most-once"),
        wrong("--max", "consume t --group=g --max=3 --delivery=at-most-once"),
        wrong("--on-assign", "consume t --group=g --delivery=effectively-once"),
        wrong("--retry-delays", "consume t --group=g --retry-delays=1s --delivery=at-most-once"),
        wrong("Missing required parameter", "group rebalances"),
        wrong("--limit '0': write a whole number from 1 to 2000", "group rebalances g --limit 0"),
        wrong(
            "--limit '2001': write a whole number from 1 to 2000",
            "group rebalances g --limit 2001"),
        wrong("list, show, replay or drop", "group dead-letters"),
        wrong(
            "--limit '0': write a whole number of at least 1",
            "group dead-letters list g --limit=0"),
        wrong("or say --all", "group dead-letters drop g"),
        wrong("or say --all", "group dead-letters replay g t/0/1 --all"),
        wrong("'t/0' is no TOPIC/SHARD/OFFSET", "group dead-letters show g t/0"),
        wrong("write http://127.0.0.1:8080", "topic list --http nowhere"));
  }

  private static List<String> run(String expected, String... options) {
    return Stream.concat(
            Stream.of(expected, "run", "dev.evenkeel.ConsumerVerticle"), Stream.of(options))
        .toList();
  }

  private static List<String> broadcast(String expected, String option) {
    return List.of(
        expected, "consume", "t", "--group=g", "--mode=broadcast", "--offsets=x", option);
  }

  private static List<String> keyRate(String expected, String option) {
    return List.of(expected, "consume", "t", "--group=g", "--key-rate=1/s", option);
  }

  private static List<String> level(String expected, String option) {
    return List.of(expected, "consume", "t", "--group", "g", "--mode", "level", option);
  }

  private static List<String> single(String expected, String option) {
    return List.of(expected, "consume", "t", "--group", "g", "--mode", "singleton", option);
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void wrongUsageIsOneLineAndStatus2(List<String> expectedAndArgs) {
    List<String> args = expectedAndArgs.subList(1, expectedAndArgs.size());
    assertThat(execute(SHARED, args.toArray(new String[0]))).as(err.toString()).isEqualTo(2);
    assertThat(err.toString()).contains(expectedAndArgs.get(0)).startsWith("evenkeel");
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void aNodeThatIsNotThereIsOneLineAndStatus1() {
    assertThat(execute("topic", "list", "--http", "http://127.0.0.1:1")).isEqualTo(1);
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).contains("http://127.0.0.1:1").contains("evenkeel serve");
  }

  @Test
  void verboseShowsTheStackTrace() {
    assertThat(execute("topic", "list", "--http", "http://127.0.0.1:1", "--verbose")).isEqualTo(1);
    assertThat(err.toString()).contains("ConnectException").contains("\tat ");
  }

  @Test
  void everyCommandHasHelpWithExamples() {
    everyHelp(Main.commandLine());
  }

  private static void everyHelp(CommandLine line) {
    assertThat(line.getUsageMessage())
        .as(line.getCommandSpec().qualifiedName())
        .contains("Example")
        .contains("  evenkeel ");
    line.getSubcommands().values().forEach(UsageTest::everyHelp);
  }

  /** What the program runs has only the command that it needs, and is otherwise the same. */
  @Test
  void aNamedCommandIsAsInTheWholeCommandLine() {
    Main.commandLine()
        .getSubcommands()
        .forEach(
            (name, whole) -> {
              CommandLine line = Main.commandLine(new String[] {"--verbose", name, "more"});
              CommandLine named = line.getSubcommands().get(name);
              assertThat(named.getUsageMessage()).isEqualTo(whole.getUsageMessage());
            });
    CommandLine topic = Main.commandLine(new String[] {"topic"});
    assertThat(topic.getSubcommands()).containsOnlyKeys("topic");
    assertThat(Main.commandLine(new String[] {"completion"}).getSubcommands()).containsKey("bench");
  }

  @Test
  void completionKnowsTheOptions() {
    assertThat(execute("completion")).isZero();
    assertThat(out.toString()).contains("complete -F").contains("--http-port").contains("describe");
  }

  @Test
  void completionKnowsTheWordsOfOptions() {
    assertThat(execute("completion")).isZero();
    for (String words : List.of("none majority all", "shard key none", "retry dead-letter stop")) {
      assertThat(out.toString()).contains("=(\"" + words.replace(" ", "\" \"") + "\")");
    }
  }

  @Test
  void versionIsPrinted() {
    assertThat(execute("--version")).isZero();
    assertThat(out.toString()).startsWith("evenkeel ");
  }
}
