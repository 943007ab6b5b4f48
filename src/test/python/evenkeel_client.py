#!/usr/bin/env python3
"""A small client for Evenkeel, written from the pages about the client protocol, with Python's standard library alone.

    python3 evenkeel_client.py produce HOST:PORT TOPIC                  messages on stdin: PAYLOAD or KEY<TAB>PAYLOAD
    python3 evenkeel_client.py consume HOST:PORT GROUP MEMBER TOPIC     prints SHARD OFFSET PAYLOAD of each message

It is an example to begin with: it has one connection, one batch on its way, and handles the messages of a shard one
after another. The pages are below src/site/markdown/protocol; names of things here are those of the pages.
"""
import json
import os
import queue
import random
import signal
import socket
import struct
import sys
import threading
import time
import uuid
from concurrent.futures import Future

(INVALID, NOT_LEADER, INDETERMINATE, FENCED, UNKNOWN_TOPIC, UNKNOWN_SHARD, UNKNOWN_GROUP, TOPIC_EXISTS, TOO_LARGE,
 CORRUPT, WRONG_VERSION, DISK_FULL, OVERLOADED, SEQUENCE_GAP, UNKNOWN_PRODUCER, PRODUCER_FENCED, OFFSET_OUT_OF_RANGE,
 MEMBER_REPLACED, GROUP_MISMATCH, UNAVAILABLE) = range(20)
AGAIN = {NOT_LEADER, INDETERMINATE, CORRUPT, DISK_FULL, OVERLOADED, UNAVAILABLE}  # the same request may succeed later
HELLO, WELCOME, REQUEST, ANSWER, REFUSAL, LISTEN, UNLISTEN, PUSH, PUSH_ANSWER, PING, PONG, GOODBYE = range(1, 13)
APPEND, FETCH, SUBMIT_DATA, SUBMIT_META, READ_LEASE = range(5)
META = -1  # the log group meta, as the pushes about leaders call it


class Refused(Exception):
    """A refusal, from any of the four places where one can appear."""

    def __init__(self, code, text):
        super().__init__("refusal %d: %s" % (code, text))
        self.code, self.text = code, text


class Interrupted(Exception):
    """The caller no longer wants the answer."""


# ---- Bytes

def pack(form, *values):
    """Numbers in the forms of struct, big-endian: B is u8, H u16, I u32, i i32, q i64."""
    return struct.pack(">" + form, *values)


def text(value):
    data = value.encode()
    return pack("i", len(data)) + data


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Reader:
    """Reads bytes from the beginning to the end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        if length < 0 or self.at + length > len(self.data):
            raise ValueError("%d bytes at %d of %d" % (length, self.at, len(self.data)))
        self.at += length
        return self.data[self.at - length:self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))[0]

    def text(self):
        length = self.number("i")
        return None if length == -1 else self.take(length).decode()

    def varint(self):
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def varlong(self):
        value = self.varint()
        return value >> 1 if value & 1 == 0 else -((value + 1) >> 1)

    def left(self):
        return len(self.data) - self.at


def _crc_table():
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 0x82F63B78 if n & 1 else n >> 1
        yield n


CRC_TABLE = list(_crc_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def murmur2(key):
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(key)
    full = len(key) & ~3
    for (k,) in struct.iter_unpack("<I", key[:full]):
        k = k * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    if key[full:]:
        h = (h ^ int.from_bytes(key[full:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15


def unpacked_lz4(block, length):
    """The bytes of an LZ4 block."""
    out, reader = bytearray(), Reader(block)

    def long_form(value):
        more = 255 if value == 15 else 0
        while more == 255:
            more = reader.number("B")
            value += more
        return value

    while True:
        token = reader.number("B")
        out += reader.take(long_form(token >> 4))
        if not reader.left():
            break
        back = int.from_bytes(reader.take(2), "little")
        if not 0 < back <= len(out):
            raise ValueError("LZ4: %d back of %d" % (back, len(out)))
        for _ in range(long_form(token & 15) + 4):
            out.append(out[-back])
    if len(out) != length:
        raise ValueError("LZ4: %d bytes, not %d" % (len(out), length))
    return bytes(out)


def build_batch(producer, epoch, sequence, messages):
    """A batch of (key or None, payload)."""
    now = int(time.time() * 1000)
    body = bytearray()
    for key, payload in messages:
        body += varint(0) if key is None else varint(len(key) + 1) + key
        body += b"\0\0" + varint(len(payload)) + payload  # the timestamp of the batch, and no headers
    rest = pack("qiqiqq", producer, epoch, sequence, len(messages), now, now) + bytes(body)
    return b"\xeb\x0a\x01\x00" + pack("iI", 12 + len(rest), crc32c(rest)) + rest


def read_batches(reader):
    """(offset, key, payload) of each message, up to the first batch whose checksum does not match."""
    while reader.left():
        first = reader.number("q")
        head = reader.take(8)
        if head[:3] != b"\xeb\x0a\x01" or head[3] > 2:
            raise ValueError("a batch that this client cannot read: %s" % head.hex())
        flags, length = head[3], struct.unpack(">i", head[4:])[0]
        crc, rest = reader.number("I"), reader.take(length - 12)
        if crc32c(rest + (bytes([flags]) if flags else b"")) != crc:
            return
        if flags == 2:
            raise ValueError("a batch in Zstandard, which this client cannot read")
        body = rest[40:] if not flags else unpacked_lz4(rest[44:], struct.unpack(">i", rest[40:44])[0])
        messages = Reader(body)
        for n in range(struct.unpack(">i", rest[20:24])[0]):
            size = messages.varint()
            key = messages.take(size - 1) if size else None
            messages.varlong()
            for _ in range(2 * messages.varint()):
                messages.take(messages.varint())
            yield first + n, key, messages.take(messages.varint())


# ---- Connections

class Connection:
    """One connection to a node, and so a session of its own."""

    def __init__(self, host, port, cluster, pushed, lost):
        self.session = "s-" + uuid.uuid4().hex
        self.pushed, self.lost = pushed, lost
        self.waiting, self.last, self.lock, self.sending = {}, 0, threading.Lock(), threading.Lock()
        self.open, self.closing = True, False
        self.socket = socket.create_connection((host, port), timeout=5)
        try:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            hello = {"versions": [1], "session": self.session, "cluster": cluster, "client": "python example"}
            self._send(HELLO, 0, json.dumps(hello).encode())
            kind, _, body = self._read()
            if kind != WELCOME:
                raise ConnectionError("%s:%d refuses the connection: %s" % (host, port, body.decode()))
            self.welcome = json.loads(body)
        except BaseException:
            self.socket.close()
            raise
        self.keep_alive = self.welcome["limits"]["keepAliveMillis"] / 1000
        self.socket.settimeout(3 * self.keep_alive)
        self.ended = threading.Event()
        threading.Thread(target=self._receive, daemon=True).start()
        threading.Thread(target=self._ping, daemon=True).start()

    def request(self, address, body, seconds):
        """A future of the answer; it fails with Refused."""
        return self._ask(REQUEST, self._address(address) + pack("I", int(seconds * 1000)) + body)

    def listen(self, address):
        return self._ask(LISTEN, self._address(address))

    def unlisten(self, address):
        self._send(UNLISTEN, 0, self._address(address))

    def close(self, why=None):
        """A session that says nothing has ended, too: all that a node needs is that the connection is closed."""
        try:
            self.closing = True
            if why:
                self._send(GOODBYE, 0, why.encode())
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already

    @staticmethod
    def _address(address):
        return pack("H", len(address.encode())) + address.encode()

    def _ask(self, kind, body):
        future = Future()
        with self.lock:
            if not self.open:
                raise Refused(INDETERMINATE, "the connection is lost")
            self.last = self.last % 0xFFFFFFFF + 1
            correlation = self.last
            self.waiting[correlation] = future
        try:
            self._send(kind, correlation, body)
        except OSError:
            self.close()  # the thread that reads tells everybody
        return future

    def _send(self, kind, correlation, body):
        with self.sending:
            self.socket.sendall(pack("IBBI", 6 + len(body), 1, kind, correlation) + body)

    def _exactly(self, length):
        data = bytearray()
        while len(data) < length:
            some = self.socket.recv(length - len(data))
            if not some:
                raise ConnectionError("the node has closed the connection")
            data += some
        return bytes(data)

    def _read(self):
        length, version, kind, correlation = struct.unpack(">IBBI", self._exactly(10))
        if version != 1 or length < 6:
            raise ConnectionError("malformed frame")
        return kind, correlation, self._exactly(length - 6)

    def _ping(self):
        while not self.ended.wait(self.keep_alive * 0.8):
            try:
                self._send(PING, 0, b"")
            except OSError:
                return self.close()

    def _receive(self):
        try:
            while True:
                kind, correlation, body = self._read()
                if kind in (ANSWER, REFUSAL):
                    with self.lock:
                        future = self.waiting.pop(correlation, None)
                    if future and kind == ANSWER:
                        future.set_result(body)
                    elif future:
                        future.set_exception(Refused(body[0], body[1:].decode()))
                elif kind == PUSH:
                    length = struct.unpack(">H", body[:2])[0]
                    self.pushed(body[2:2 + length].decode(), body[2 + length:])
                elif kind == PING:
                    self._send(PONG, correlation, b"")
                elif kind != PONG:  # GOODBYE, or one that this client does not know
                    break
        except OSError as broken:  # also when nothing has come for long
            if not self.closing:
                print("connection to %s: %s" % (self.welcome["node"], broken), file=sys.stderr)
        finally:
            with self.lock:
                self.open, waiting = False, list(self.waiting.values())
            self.ended.set()
            self.socket.close()
            self.lost(self)
            for future in waiting:
                future.set_exception(Refused(INDETERMINATE, "the connection is lost"))


class Cluster:
    """Stays connected to some node, knows the leaders, and asks them. Everybody waits for its condition `changed`."""

    def __init__(self, host, port, name="evenkeel"):
        self.name, self.seeds = name, [(host, port)]
        self.changed = threading.Condition()
        self.connection, self.closed = None, False
        self.view, self.leaders = None, {}  # log group -> (term, node)
        self.listeners = {"evenkeel.leaders": self._leaders_pushed}  # address -> function of the bytes
        self.when_lost = []
        self._connect()  # the first must succeed
        threading.Thread(target=self._stay, daemon=True).start()

    def wait(self, condition, seconds=None):
        with self.changed:
            return self.changed.wait_for(condition, seconds)

    def notify(self):
        with self.changed:
            self.changed.notify_all()

    def listen(self, address, function):
        self.listeners[address] = function
        connection = self.connection
        if connection:  # if not, or if it breaks, _connect listens
            try:
                self._wait_for(connection.listen(address), 5)
            except Refused as refused:
                if refused.code not in AGAIN:
                    raise

    def unlisten(self, address):
        del self.listeners[address]
        if self.connection:
            self.connection.unlisten(address)

    def session(self):
        connection = self.connection
        return connection.session if connection else None

    def topic(self, name):
        """Id and number of shards."""
        self.refresh()
        for topic in self.view["topics"]:
            if topic["name"] == name:
                return topic["id"], topic["shards"]
        raise Refused(UNKNOWN_TOPIC, "there is no topic '%s': create it first" % name)

    def data_group(self, topic, shard):
        return (topic + shard) % len(self.view["dataLeaders"])

    def refresh(self):
        """Asks for the view until a node has it that has caught up."""
        while True:
            connection = self.connection
            if connection:
                try:
                    view = json.loads(self._wait_for(connection.request("evenkeel.view", b"", 2), 4))
                    if view["caughtUp"]:
                        self._viewed(view)
                        return
                except Refused:
                    pass
            self.wait(lambda: self.closed, 0.2)

    def ask(self, group, kind, operation, body, seconds=5.0, interrupted=lambda: False):
        """Asks the leader of a log group, again after refusals that allow it; gives what follows the status."""
        moves = 0
        while True:
            if interrupted():
                raise Interrupted()
            try:
                return self.try_leader(group, kind, pack("BB", 1, operation) + body, seconds, interrupted)
            except Refused as refused:
                if refused.code not in AGAIN:
                    raise
                if refused.code == NOT_LEADER and refused.text and moves < 2:
                    moves += 1
                    continue
            moves, known = 0, self.leaders.get(group)
            self.wait(lambda: interrupted() or self.leaders.get(group) != known, random.uniform(0.1, 0.3))
            if not interrupted():
                self.refresh()

    def try_leader(self, group, kind, body, seconds, interrupted=lambda: False):
        """Asks the leader once. NOT_LEADER with a node makes that the leader that is known."""
        connection, leader = self.connection, self.leaders.get(group)
        if not connection or not leader:
            raise Refused(UNAVAILABLE, "no connection, or the leader is not known")
        future = connection.request("evenkeel.node.%s.%s" % (leader[1], kind), body, seconds)
        answer = self._wait_for(
            future, seconds + 3, lambda: interrupted() or self.leaders.get(group, leader)[1] != leader[1])
        if answer is None:
            if interrupted():
                raise Interrupted()
            raise Refused(INDETERMINATE, "another node leads")
        if answer[1]:
            refused = Refused(answer[1] - 1, answer[2:].decode())
            if refused.code == NOT_LEADER and refused.text:
                with self.changed:
                    self.leaders[group] = (self.leaders.get(group, leader)[0], refused.text)
                    self.changed.notify_all()
            raise refused
        return answer[2:]

    def submit(self, group, command, interrupted=lambda: False):
        """A command for a data group or META; gives the reader behind the number of the reply, and the number."""
        meta = group == META
        while True:
            body = command if meta else pack("i", group) + command
            reply = Reader(self.ask(group, "control", SUBMIT_META if meta else SUBMIT_DATA, body, 5.0, interrupted))
            number = reply.number("B")
            if number != 1:
                return number, reply
            refused = Refused(reply.number("B"), reply.text())
            if refused.code not in AGAIN:
                raise refused
            self.wait(interrupted, random.uniform(0.1, 0.3))

    def close(self):
        with self.changed:
            self.closed, connection = True, self.connection
            self.changed.notify_all()
        if connection:
            connection.close("done")

    def _wait_for(self, future, seconds, given_up=lambda: False):
        """The result, or None if it is given up before."""
        future.add_done_callback(lambda _: self.notify())
        self.wait(lambda: future.done() or given_up(), seconds)
        if future.done():
            return future.result()
        if given_up():
            return None
        raise Refused(INDETERMINATE, "no answer in time")

    def _connect(self):
        """Connects to the first node that takes it."""
        failure = None
        for host, port in list(dict.fromkeys(self.seeds)):
            try:
                connection = Connection(host, port, self.name, self._pushed, self._lost)
            except (OSError, ValueError) as broken:
                failure = broken
                continue
            nodes = [(node["host"], node["port"]) for node in connection.welcome["nodes"]]
            self.seeds = self.seeds[:1] + nodes
            with self.changed:
                self.connection = connection if connection.open else None
            try:
                for address in list(self.listeners):
                    self._wait_for(connection.listen(address), 5)
                self.refresh()
            except Refused as refused:
                failure = refused
                connection.close()
                continue
            return self.notify()
        raise ConnectionError("no node takes a connection: %s" % failure)

    def _stay(self):
        while not self.closed:
            self.wait(lambda: self.closed or not self.connection)
            try:
                if not self.closed:
                    self._connect()
            except ConnectionError:
                self.wait(lambda: self.closed, random.uniform(0.1, 1))

    def _lost(self, connection):
        with self.changed:
            if self.connection is connection:
                self.connection = None
                for function in self.when_lost:
                    function()
            self.changed.notify_all()

    def _pushed(self, address, body):
        function = self.listeners.get(address)
        if function:
            function(body)

    def _leaders_pushed(self, body):
        for leader in json.loads(body)["leaders"]:
            self._leads(leader["group"], leader["term"], leader["node"])

    def _viewed(self, view):
        if not self.view or view["metaIndex"] >= self.view["metaIndex"]:
            self.view = view
        self._leads(META, view["metaTerm"], view["metaLeader"])
        for group, (term, node) in enumerate(zip(view["dataTerms"], view["dataLeaders"])):
            self._leads(group, term, node)

    def _leads(self, group, term, node):
        with self.changed:
            if node and term >= self.leaders.get(group, (0,))[0]:
                self.leaders[group] = (term, node)
                self.changed.notify_all()


class Producer:
    """Sends each message exactly once, as long as it runs: one batch is on its way at a time."""

    BYTES, MESSAGES = 512 * 1024, 1000  # a batch is sent when it is that large

    def __init__(self, cluster, topic):
        self.cluster = cluster
        self.topic, self.shards = cluster.topic(topic)
        self.id, self.epoch = self._register()
        self.next = {}  # shard -> sequence
        self.turn = 0

    def send(self, messages):
        """Returns when all (key or None, payload) are in the log; each key keeps its order."""
        waiting, sizes = {}, {}  # by shard
        for key, payload in messages:
            if len(payload) > 1048576 or key and len(key) > 32768:
                raise ValueError("a payload has at most 1048576 bytes, and a key 32768")
            shard = self.turn if key is None else (murmur2(key) & 0x7FFFFFFF) % self.shards
            size = len(payload) + len(key or b"")
            batch = waiting.setdefault(shard, [])
            if batch and (len(batch) >= self.MESSAGES or sizes[shard] + size > self.BYTES):
                self._append(shard, batch)
                batch = waiting[shard] = []
            batch.append((key, payload))
            sizes[shard] = size if len(batch) == 1 else sizes[shard] + size
        self.turn = (self.turn + 1) % self.shards
        for shard, batch in waiting.items():
            self._append(shard, batch)

    def _register(self):
        _, reply = self.cluster.submit(META, b"\x09" + text(""))
        return reply.number("q"), reply.number("i")

    def _append(self, shard, messages):
        place, group = pack("ii", self.topic, shard), self.cluster.data_group(self.topic, shard)
        batch = build_batch(self.id, self.epoch, self.next.get(shard, 0), messages)
        while True:
            answer = Reader(self.cluster.ask(group, "data", APPEND, place + batch))
            answer.number("q")
            status = answer.number("B")
            if status == 0:
                self.next[shard] = self.next.get(shard, 0) + len(messages)
                return
            if status - 1 in (SEQUENCE_GAP, UNKNOWN_PRODUCER):
                last = self._open_epoch().get(shard, -1)
                taken = self.next.get(shard, 0) + len(messages) - 1 <= last
                self.next = {}
                if taken:
                    return
                batch = build_batch(self.id, self.epoch, 0, messages)
            elif status - 1 in AGAIN:
                time.sleep(random.uniform(0.1, 1))
            else:
                raise Refused(status - 1, "batch for shard %d" % shard)

    def _open_epoch(self):
        """shard -> last sequence that the log took in the former epoch."""
        last = {}
        self.epoch += 1
        for group in range(len(self.cluster.view["dataLeaders"])):
            _, reply = self.cluster.submit(group, b"\x09" + pack("qi", self.id, self.epoch))
            for _ in range(reply.number("i")):
                topic, shard, sequence = reply.number("i"), reply.number("i"), reply.number("q")
                if topic == self.topic:
                    last[shard] = sequence
        return last


class Owned:
    """A shard that a consumer owns."""

    def __init__(self, key, epoch, position):
        self.key, self.epoch, self.position = key, epoch, position  # None: the lease must be read
        self.committed, self.draining = position, False


class Consumer:
    """The simplest correct member of a group: see the page about consuming."""

    TIMEOUT, LOCK_TIME, COMMIT_EVERY = 5.0, 50.0, 5.0

    def __init__(self, cluster, group, member, topics, handle):
        """handle(shard, offset, key, payload) is called by a thread of each shard; an exception: again later."""
        self.cluster, self.group, self.member, self.topics, self.handle = cluster, group, member, topics, handle
        self.instance, self.born = str(uuid.uuid4()), int(time.time() * 1000)
        self.address = "evenkeel.member." + self.instance
        self.mine, self.over, self.threads = {}, {}, {}  # by (topic id, shard)
        self.last, self.last_used, self.until, self.consumed = (-1, -1), 0.0, 0.0, 0
        self.closing = self.beat_now = False
        self.ended = None  # why
        cluster.when_lost.append(self._stop_starting)
        cluster.listen(self.address, lambda body: self._assigned(json.loads(body)))
        for target in (self._heartbeats, self._commits):
            threading.Thread(target=target, daemon=True).start()

    def leave(self):
        """Releases all shards and leaves the group; True if all is well."""
        with self.cluster.changed:
            self.closing = self.beat_now = True
            for owned in self.mine.values():
                owned.draining = True
            self.cluster.changed.notify_all()
        self.cluster.wait(lambda: self.ended, self.LOCK_TIME)
        return self.ended == "left"

    @staticmethod
    def clock():
        """Moves on while the machine is suspended, if the machine has such a clock."""
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))

    def _stop_starting(self):
        """The session has ended: only an assignment that arrives later allows to start messages."""
        self.until, self.beat_now = 0.0, True

    def _owns(self, owned):
        return self.mine.get(owned.key) is owned and not self.ended

    def _stops(self, owned):
        return not self._owns(owned) or owned.draining

    # ---- Heartbeats and assignments

    def _heartbeat(self, leaving):
        with self.cluster.changed:
            marks = [[*o.key, o.epoch, None, None, None, None, o.position] for o in self.mine.values()]
            self.beat_now = False
        random.shuffle(marks)  # a heartbeat has at most 1,000
        beat = {"group": self.group, "member": self.member, "instance": self.instance, "bornMillis": self.born,
                "leaving": leaving, "closing": self.closing, "mode": "sharded", "topics": self.topics,
                "startKind": "EARLIEST", "startValue": 0, "clusterMember": self.cluster.session(),
                "host": socket.gethostname(), "consumed": self.consumed, "marks": marks[:1000],
                "memberTimeoutMillis": int(self.TIMEOUT * 1000), "lockTimeMillis": int(self.LOCK_TIME * 1000)}
        return json.loads(self.cluster.try_leader(META, "dispatcher", json.dumps(beat).encode(), 1.5))

    def _heartbeats(self):
        unavailable = 0
        while not self.ended:
            leaving = self.closing and not self.mine
            sent = self.clock()
            try:
                answer = self._heartbeat(leaving)
                unavailable = 0
                if leaving:
                    self.cluster.unlisten(self.address)
                    return self._end("left")
                self._assigned(answer)
                with self.cluster.changed:
                    self.until = max(self.until, sent + self.TIMEOUT - 1)
                    self.cluster.changed.notify_all()
                self.cluster.wait(lambda: self.beat_now or self.closing and not self.mine, 1)
            except Refused as refused:
                if refused.code in AGAIN or refused.code == UNKNOWN_TOPIC:
                    unavailable = unavailable + 1 if refused.code == UNAVAILABLE else 0
                    connection = self.cluster.connection
                    if unavailable > 20 and connection:  # perhaps the cluster takes the session for ended
                        unavailable = 0
                        connection.close()
                    self.cluster.wait(lambda: False, 1 if refused.code == UNKNOWN_TOPIC else random.uniform(0.1, 0.3))
                    if self.cluster.connection:
                        self.cluster.refresh()
                else:
                    return self._end("left" if leaving and refused.code == INVALID else str(refused))

    def _end(self, why):
        with self.cluster.changed:
            self.ended, self.mine = why, {}
            self.cluster.changed.notify_all()

    def _assigned(self, assignment):
        with self.cluster.changed:
            now, order = self.clock(), (assignment["term"], assignment["revision"])
            if assignment["instance"] != self.instance or self.ended:
                return
            if order < self.last and now - self.last_used < 30:
                return
            self.last, self.last_used = order, now
            named = {(s["topicId"], s["shard"]): s for s in assignment["shards"]}
            for key, owned in list(self.mine.items()):
                if key not in named or named[key]["epoch"] != owned.epoch:
                    self._lose(owned)
            for key, s in named.items():
                if key not in self.mine and s["epoch"] > self.over.get(key, 0) and not self.closing:
                    owned = Owned(key, s["epoch"], s["committed"] if s["committed"] >= 0 else None)
                    self.mine[key] = owned
                    former = self.threads.get(key)
                    self.threads[key] = threading.Thread(target=self._work, args=(owned, former), daemon=True)
                    self.threads[key].start()
                if key in self.mine:
                    self.mine[key].draining = s["draining"] or self.closing
            self.cluster.changed.notify_all()

    def _lose(self, owned):
        with self.cluster.changed:
            self.over[owned.key] = max(self.over.get(owned.key, 0), owned.epoch)
            if self.mine.get(owned.key) is owned:
                del self.mine[owned.key]
            self.cluster.changed.notify_all()

    # ---- Progress

    def _behind(self):
        return [o for o in self.mine.values() if o.position is not None and o.position != o.committed]

    def _commits(self):
        """One command for all shards of a data group."""
        while not self.ended:
            self.cluster.wait(
                lambda: self.ended or any(o.position - (o.committed or 0) >= 1000 for o in self._behind()),
                self.COMMIT_EVERY)
            groups = {}
            with self.cluster.changed:
                for o in self._behind():
                    groups.setdefault(self.cluster.data_group(*o.key), []).append((o, o.position))
            for group, some in groups.items():
                command = pack("Bi", 41, len(some))
                for o, position in some:
                    command += text(self.group) + pack("iiqqq", *o.key, o.epoch, position, -1)
                try:
                    _, reply = self.cluster.submit(group, command, lambda: self.ended)
                except Interrupted:
                    return
                except Refused as refused:
                    print("commit: %s" % refused, file=sys.stderr)
                    continue
                refusals = {}
                for _ in range(reply.number("i")):
                    index, refusal, _ = reply.number("i"), reply.number("B"), reply.text()
                    refusals[index] = refusal
                for index, (o, position) in enumerate(some):
                    if index not in refusals:
                        o.committed = max(o.committed or 0, position)
                    elif refusals[index] not in AGAIN:
                        self._lose(o)

    def _begin(self, owned, group):
        """Reads the committed offset from the lease."""
        while owned.position is None:
            body = text(self.group) + pack("ii", *owned.key)
            reply = Reader(self.cluster.ask(
                group, "control", READ_LEASE, body, 5.0, lambda: not self._owns(owned)))
            if reply.number("B") != 4:
                raise ValueError("READ_LEASE: another reply than OfLease")
            if reply.text() is None:
                form = reply.number("B")
                reply.take({2: 8, 3: 24, 4: 32}[form])
                reply.text()
            reply.take(8)
            epoch, _, instance = reply.number("q"), reply.text(), reply.text()
            if epoch > owned.epoch or epoch == owned.epoch and instance != self.instance:
                raise Refused(FENCED, "the lease is at epoch %d" % epoch)
            if epoch == owned.epoch:
                owned.position = owned.committed = reply.number("q")
            else:
                self.cluster.wait(lambda: not self._owns(owned), 0.1)

    def _work(self, owned, former):
        if former:
            former.join()
        group = self.cluster.data_group(*owned.key)
        try:
            self._begin(owned, group)
            while not self._stops(owned):
                self._fetch(owned, group)
        except Interrupted:
            pass
        except Refused as refused:  # FENCED, or the shard is gone
            print("shard %d: %s" % (owned.key[1], refused), file=sys.stderr)
            return self._lose(owned)
        except ValueError as unreadable:
            return self._end(str(unreadable))
        if self._owns(owned):  # it is draining
            self._release(owned, group)

    def _fetch(self, owned, group):
        body = (text(self.group) + pack("iiqq", *owned.key, owned.epoch, owned.position)
                + pack("iiii", 1 << 20, 15000, 1000, -1))
        try:
            answer = Reader(self.cluster.ask(group, "data", FETCH, body, 20.0, lambda: self._stops(owned)))
        except Refused as refused:
            if refused.code != OFFSET_OUT_OF_RANGE:
                raise
            start = int(refused.text.split("..")[0])
            if start > owned.position:
                print("shard %d: %d to %d are gone" % (owned.key[1], owned.position, start - 1), file=sys.stderr)
                owned.position = start
            else:
                self.cluster.wait(lambda: self._stops(owned), 0.2)
            return
        answer.take(20)  # start and end of the shard, and the number of failures
        for offset, key, payload in read_batches(answer):
            if offset >= owned.position and not self._handled(owned, offset, key, payload):
                return

    def _handled(self, owned, offset, key, payload):
        """Until it succeeds; False if the shard is lost or draining before."""
        while True:
            self.cluster.wait(lambda: self._stops(owned) or self.clock() < self.until)
            with self.cluster.changed:  # a push may have come meanwhile
                if self._stops(owned):
                    return False
                if self.clock() >= self.until:
                    continue
            try:
                self.handle(owned.key[1], offset, key, payload)
                owned.position = offset + 1
                with self.cluster.changed:
                    self.consumed += 1
                return True
            except Exception as failure:  # whatever the handler throws
                print("shard %d offset %d: %s" % (owned.key[1], offset, failure), file=sys.stderr)
                self.cluster.wait(lambda: self._stops(owned), 1)

    def _release(self, owned, group):
        command = (b"\x07" + text(self.group) + pack("iiqq", *owned.key, owned.epoch, owned.position)
                   + pack("qi", -1, -1))  # no state
        try:
            self.cluster.submit(group, command, lambda: not self._owns(owned))
        except Interrupted:
            pass
        except Refused as refused:
            print("release of shard %d: %s" % (owned.key[1], refused), file=sys.stderr)
        self._lose(owned)
        with self.cluster.changed:
            self.beat_now = True
            self.cluster.changed.notify_all()


# ---- Commands

def produce(cluster, topic):
    """Sends what there is on stdin, without waiting for more."""
    producer, lines, acked = Producer(cluster, topic), queue.Queue(10000), 0

    def read():
        for line in sys.stdin.buffer:
            lines.put(line.rstrip(b"\r\n"))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    line = b""
    while line is not None:
        some, line = [], lines.get()
        while line is not None:
            key, tab, payload = line.partition(b"\t")
            some.append((key, payload) if tab else (None, line))
            if len(some) == Producer.MESSAGES or lines.empty():
                break
            line = lines.get()
        producer.send(some)
        acked += len(some)
    print("acked %d" % acked, file=sys.stderr)
    return 0


def consume(cluster, group, member, topic):
    """Until SIGTERM or SIGINT, which main has blocked."""
    lock = threading.Lock()

    def handle(shard, offset, _, payload):
        with lock:
            sys.stdout.buffer.write(b"%d %d %s\n" % (shard, offset, payload))
            sys.stdout.buffer.flush()

    consumer = Consumer(cluster, group, member, [topic], handle)
    while not consumer.ended and not signal.sigtimedwait({signal.SIGTERM, signal.SIGINT}, 0.5):
        pass
    if consumer.ended:
        print("ended: %s" % consumer.ended, file=sys.stderr)
        return 1
    return 0 if consumer.leave() else 1


def main(args):
    commands = {"produce": (produce, 3), "consume": (consume, 5)}
    if not args or args[0] not in commands or len(args) != commands[args[0]][1]:
        print(__doc__, file=sys.stderr)
        return 2
    command, (host, _, port) = commands[args[0]][0], args[1].rpartition(":")
    if command is consume:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})  # in all threads
    try:
        cluster = Cluster(host, int(port))
        status = command(cluster, *args[2:])
        cluster.close()
        return status
    except (OSError, ValueError, Refused) as failure:
        print(failure, file=sys.stderr)
        return 1


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # without waiting for threads that read
