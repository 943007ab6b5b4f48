"""Consumes a topic over HTTP: http_consumer.py GROUP TOPIC URL [URL...]"""
import json, sys, time, urllib.request

group, topic, urls = sys.argv[1], sys.argv[2], sys.argv[3:]


def call(url, method, path="", body=None):
    request = urllib.request.Request(
        url + "/api/groups/" + group + "/sessions" + path, method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"content-type": "application/json"} if body else {})
    with urllib.request.urlopen(request, timeout=25) as answer:
        return json.loads(answer.read() or "null")


def handle(message):
    print(message["shard"], message["offset"], message["epoch"], message["payload"], flush=True)


def consume(url):
    """Until the node or the session is gone."""
    session = "/" + call(url, "POST", body={"topics": [topic], "order": "key"})["session"]
    while True:
        done, failed = [], []
        for message in call(url, "GET", session + "/messages?max=100")["messages"]:
            name = {each: message[each] for each in ("topic", "shard", "offset", "epoch")}
            try:
                handle(message)
                done.append(name)
            except Exception as error:
                failed.append({**name, "error": str(error)})
        if done or failed:
            call(url, "POST", session + "/results", {"done": done, "failed": failed})


while True:
    for url in urls:
        try:
            consume(url)
        except OSError as error:  # what was not confirmed comes again, in the next session
            print(url, error, file=sys.stderr, flush=True)
            time.sleep(0.2)
