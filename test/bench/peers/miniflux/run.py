#!/usr/bin/env python3
"""Documents per CPU second of Miniflux and of Courant for the same feeds: see ../README.md.

    run.py COURANT MINIFLUX MINIWEB [--hosts 1000] [--items 20] [--rounds 3]

The CPU time is that of the collector and of its database server.
"""
import argparse, base64, glob, json, os, re, shutil, signal, socket, statistics, subprocess, tempfile, time, urllib.request
from xml.sax.saxutils import quoteattr

TICKS = os.sysconf("SC_CLK_TCK")
FEEDS = ("rss-full", "rss-summary", "atom", "rdf")  # dialects of miniweb
PATIENCE = 300  # seconds for each run
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(method, url, body=None, headers=()):
    with direct.open(urllib.request.Request(url, data=body, method=method, headers=dict(headers)), timeout=PATIENCE) as r:
        return r.read()


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(what, done):
    end = time.time() + 60
    while time.time() < end:
        try:
            if value := done():
                return value
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"{what} did not start within a minute")


def stat(pid):
    """The parent and the CPU seconds of a process, its own and those of its children that have ended."""
    text = open(f"/proc/{pid}/stat").read()
    f = text[text.rindex(")") + 2:].split()
    return int(f[1]), (int(f[11]) + int(f[12])) / TICKS, (int(f[13]) + int(f[14])) / TICKS


def peak(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) // 1024


class Process:
    def __init__(self, args, log, env=None):
        with open(log, "ab") as out:
            self.process = subprocess.Popen(args, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=env)
        self.pid = self.process.pid

    def cpu(self):
        """With all processes that it has started."""
        total = sum(stat(self.pid)[1:])
        for d in os.listdir("/proc"):
            if d.isdigit():
                try:
                    parent, own, _ = stat(d)
                except OSError:
                    continue
                if parent == self.pid:
                    total += own
        return total

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(60)


class Web(Process):
    def __init__(self, miniweb, folder, hosts, items):
        log = folder + "/miniweb.log"
        super().__init__([miniweb, "-listen", "127.0.0.1:0", "-mix", "plain", "-hosts", str(hosts), "-items", str(items), "-window", str(items), "-quiet=false"], log)
        self.proxy = until("miniweb", lambda: re.search(r"proxy and control at (http://[^/]+)/", open(log).read()))[1]
        self.feeds = [s["url"] for s in json.loads(call("GET", self.proxy + "/_control/sources.json")) if s["kind"] == "feed" and s["dialect"] in FEEDS]


class Postgres(Process):
    def __init__(self, folder):
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.data, self.port = folder + "/postgres", port()
        os.makedirs(self.data)
        self.user = []
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            os.chmod(folder, 0o755)
            shutil.chown(self.data, "postgres")
            self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        subprocess.run([*self.user, self.bin + "/initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "-E", "UTF8"], check=True, stdout=subprocess.DEVNULL)
        super().__init__([*self.user, self.bin + "/postgres", "-D", self.data, "-p", str(self.port), "-k", self.data, "-c", "listen_addresses=127.0.0.1"], folder + "/postgres.log")
        until("PostgreSQL", lambda: self.ask("SELECT 1") == "1")
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres?sslmode=disable"

    def ask(self, query):
        return subprocess.run([self.bin + "/psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-At", "-c", query], capture_output=True, text=True).stdout.strip()

    def stop(self):
        super().stop(signal.SIGINT)


def miniflux(a, folder):
    web, db, address = Web(a.miniweb, folder, a.hosts, a.items), Postgres(folder), f"127.0.0.1:{port()}"
    server = Process([a.miniflux], folder + "/miniflux.log", {
        "PATH": os.environ["PATH"], "DATABASE_URL": db.url, "RUN_MIGRATIONS": "1", "LISTEN_ADDR": address, "LOG_LEVEL": "error",
        "CREATE_ADMIN": "1", "ADMIN_USERNAME": "admin", "ADMIN_PASSWORD": "password", "HTTP_PROXY": web.proxy, "HTTP_CLIENT_PROXIES": web.proxy,
        "FETCHER_ALLOW_PRIVATE_NETWORKS": "1", "POLLING_FREQUENCY": "1", "BATCH_SIZE": "10000", "WORKER_POOL_SIZE": "16", "POLLING_LIMIT_PER_HOST": "0"})
    key = {"Authorization": "Basic " + base64.b64encode(b"admin:password").decode()}
    until("Miniflux", lambda: call("GET", f"http://{address}/v1/me", headers=key))
    opml = '<opml version="2.0"><body>' + "".join(f"<outline text={quoteattr(u)} xmlUrl={quoteattr(u)}/>" for u in web.feeds) + "</body></opml>"
    before = server.cpu() + db.cpu()
    call("POST", f"http://{address}/v1/import", opml.encode(), key)
    call("PUT", f"http://{address}/v1/feeds/refresh", b"", key)
    made = settled(len(web.feeds) * a.items, lambda: int(db.ask("SELECT COUNT(*) FROM entries") or 0))
    return finish("Miniflux", made, server.cpu() + db.cpu() - before, peak(server.pid), server, db, web)


def courant(a, folder, postgres):
    web, db = Web(a.miniweb, folder, a.hosts, a.items), Postgres(folder) if postgres else None
    env = {"PATH": os.environ["PATH"], "COURANT_ROBOT_PROXY": web.proxy, "COURANT_ROBOT_GAP": "250ms", "COURANT_LOG_LEVEL": "warn", "COURANT_MEDIA_PICTURES": "false",
           "COURANT_SCHEDULE_MIN_INTERVAL": "1h", "COURANT_SCHEDULE_MAX_INTERVAL": "1h", "COURANT_SCHEDULE_FIRST_INTERVAL": "1h"}
    if db:
        env["COURANT_STORE_URL"] = db.url
    with open(folder + "/sources.json", "w") as f:
        f.writelines(json.dumps({"url": u, "kind": "feed"}) + "\n" for u in web.feeds)
    data = folder + "/data"
    subprocess.run([a.courant, "source", "import", "--data", data, folder + "/sources.json"], env=env, check=True, stdout=subprocess.DEVNULL)
    before = db.cpu() if db else 0
    server = Process([a.courant, "run", "--data", data, "--listen", "127.0.0.1:0"], folder + "/courant.log", env)

    def made():
        with open(data + "/run.json") as f:
            s = json.load(f)
        text = call("GET", s["address"] + "/metrics", headers={"Authorization": "Bearer " + s["token"]}).decode()
        return sum(float(n) for n in re.findall(r'^courant_pages_total\{result="printed"\} (\S+)', text, re.M))
    until("Courant", lambda: os.path.exists(data + "/run.json"))
    n = settled(len(web.feeds) * a.items, made)
    time.sleep(3)  # the index reads what is live
    cpu = server.cpu() + (db.cpu() - before if db else 0)
    return finish("Courant with " + ("PostgreSQL" if db else "SQLite"), n, cpu, peak(server.pid), server, *[db] * bool(db), web)


def settled(want, count):
    """Waits until there are as many documents as wanted, or no more come."""
    end, last, still = time.time() + PATIENCE, -1, 0
    while last < want and still < 10 and time.time() < end:
        time.sleep(1)
        now = count()
        still = still + 1 if now == last and now > 0 else 0
        last = now
    return int(last)


def finish(name, made, cpu, memory, *processes):
    print(f"{name}: {made} documents, {cpu:.1f} s of CPU, {made / cpu:.0f} per CPU second, peak of the collector {memory} MB", flush=True)
    for p in processes:
        p.stop()
    return made / cpu


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in "courant", "miniflux", "miniweb":
        p.add_argument(name, type=os.path.abspath)
    for name, usual in ("hosts", 1000), ("items", 20), ("rounds", 3):
        p.add_argument("--" + name, type=int, default=usual)
    a = p.parse_args()
    sides = {"Miniflux": miniflux, "SQLite": lambda a, f: courant(a, f, False), "PostgreSQL": lambda a, f: courant(a, f, True)}
    found = {name: [] for name in sides}
    for _ in range(a.rounds):
        for name, run in sides.items():
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                found[name].append(run(a, folder))
    for name in "SQLite", "PostgreSQL":
        ratios = [c / m for c, m in zip(found[name], found["Miniflux"])]
        print(f"Courant with {name}: {statistics.median(ratios):.2f} times the documents of Miniflux per CPU second ({min(ratios):.2f} to {max(ratios):.2f})")


main()
