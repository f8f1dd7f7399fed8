#!/usr/bin/env python3
"""Kills zones of a running search, and measures what readers notice.

Three zones run in three cgroups, each one process with the roles index and search; a
fourth cgroup holds HAProxy and the load generator. README.md lists the requirements.
"""

import argparse, glob, json, os, pathlib, pwd, shutil, signal, subprocess, sys, threading, time, urllib.request

PERIOD_US = 10_000  # of the cgroups' quota; with the usual 100 ms a process would be stopped for 60 ms at a time
PORT = {"pg": 25432, "nats": 24222, "hub": 28080, "lb": 28090}
ZONES = ["a", "b", "c"]

CONFIG = """
[http]
listen = "127.0.0.1:{http}"
[store]
url = "postgres://postgres@127.0.0.1:{pg}/postgres?sslmode=disable"
connections = 4
[bus]
kind = "nats"
{bus}
[media]
pictures = false
[search]
synonyms = "{synonyms}"
[index]
policy = "{policy}"
model = "{model}"
{listen}
"""

HAPROXY = """
global
  maxconn 4000
  nbthread 1
defaults
  mode http
  timeout connect 500ms
  timeout client 10s
  timeout server 5s
  timeout queue 2s
  retries 2
  option redispatch 1
  retry-on conn-failure empty-response
  option httpchk GET /readyz
  default-server inter 1s fall 2 rise 2
frontend readers
  bind 127.0.0.1:{lb}
  default_backend zones
backend zones
  balance roundrobin
{servers}
"""

URL = ("http://127.0.0.1:%d/api/v1/search?text={text}&category={category}&sort={sort}&price_min={price_min}&price_max={price_max}"
       "&vendor={vendor}&param={param}&available={available}&region={region}&k=48&profile=segment:{segment};budget:{budget};thrift:{thrift};haste:{haste}")


def zone_port(i, what):
    return 28100 + 10 * i + {"http": 0, "shards": 1}[what]


class Group:
    """A cgroup (version 1) with a CPU quota."""

    def __init__(self, name):
        self.name = "courant-" + name
        self.paths = [pathlib.Path("/sys/fs/cgroup", c, self.name) for c in ("cpu", "cpuacct")]
        for p in self.paths:
            p.mkdir(exist_ok=True)
        (self.paths[0] / "cpu.shares").write_text("65536")  # priority over everything else on the machine

    def limit(self, cores):
        (self.paths[0] / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (self.paths[0] / "cpu.cfs_quota_us").write_text(str(int(cores * PERIOD_US) if cores else -1))

    def enter(self):
        for p in self.paths:
            (p / "cgroup.procs").write_text(str(os.getpid()))

    def used(self):
        return int((self.paths[1] / "cpuacct.usage").read_text()) / 1e9


class Stand:
    def __init__(self, args):
        self.args, self.work = args, pathlib.Path(args.work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.groups = {z: Group(z) for z in ZONES + ["load"]}
        self.running = {}

    def start(self, name, command, within=None, wait=None, **more):
        log = open(self.work / (name + ".log"), "ab")
        p = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=within.enter if within else None, **more)
        self.running[name] = p
        if wait:
            self.until(wait, name)
        return p

    def until(self, url, name, seconds=600):
        end = time.time() + seconds
        while time.time() < end:
            if self.running[name].poll() is not None:
                sys.exit(f"{name} ended: see {self.work / name}.log")
            try:
                urllib.request.urlopen(url, timeout=2).read()
                return
            except OSError:
                time.sleep(0.2)
        sys.exit(f"{name} is not ready: see {self.work / name}.log")

    def postgres(self):
        bin, data = self.args.pg_bin, self.work / "pg"
        user = pwd.getpwnam("postgres")
        os.chmod(self.work, 0o755)
        as_user = dict(user=user.pw_uid, group=user.pw_gid, cwd="/")
        if not data.exists():
            data.mkdir()
            os.chown(data, user.pw_uid, user.pw_gid)
            subprocess.run([f"{bin}/initdb", "-D", data, "-A", "trust"], check=True, stdout=subprocess.DEVNULL, **as_user)
        self.start("postgres", [f"{bin}/postgres", "-D", data, "-p", str(PORT["pg"]), "-k", data, "-c", "listen_addresses=127.0.0.1",
                                "-c", "fsync=off", "-c", "shared_buffers=512MB", "-c", "max_wal_size=8GB"], **as_user)
        for _ in range(300):
            if subprocess.run([f"{bin}/pg_isready", "-p", str(PORT["pg"]), "-h", "127.0.0.1"], stdout=subprocess.DEVNULL).returncode == 0:
                return
            time.sleep(0.1)
        sys.exit(f"PostgreSQL did not start: see {self.work / 'postgres.log'}")

    def config(self, name, **values):
        path = self.work / (name + ".toml")
        path.write_text(CONFIG.format(pg=PORT["pg"], synonyms=self.args.synonyms, policy=self.args.policy, model=self.args.model, **values))
        return path

    def hub(self):
        c = self.config("hub", http=PORT["hub"], bus=f'listen = "127.0.0.1:{PORT["nats"]}"\ntoken = "zones"', listen="")
        data = self.work / "hub"
        roles = ["schedule", "parse", "pages", "api"]
        self.start("hub", [self.args.courant, "run", *roles, "--config", c, "--data", data], wait=f"http://127.0.0.1:{PORT['hub']}/readyz")
        done = self.work / "imported"
        if not done.exists():
            files = sorted(glob.glob(self.args.catalogs))
            subprocess.run([self.args.courant, "import", "--config", c, "--data", data, *files], check=True)
            done.write_text("\n".join(files))

    def zone(self, z):
        i = ZONES.index(z)
        c = self.config("zone-" + z, http=zone_port(i, "http"), bus=f'url = "nats://127.0.0.1:{PORT["nats"]}"\ntoken = "zones"',
                        listen=f'listen = "127.0.0.1:{zone_port(i, "shards")}"')
        return self.start("zone-" + z, [self.args.courant, "run", "index", "search", "--zone", z, "--config", c, "--data", self.work / ("zone-" + z)],
                          within=self.groups[z])

    def zones(self):
        """Starts all zones. The first time it restarts them, because a stop writes the snapshots."""
        for z in ZONES:
            self.groups[z].limit(None)
        first = not (self.work / "zone-a" / "index").exists()
        for again in range(2 if first else 1):
            for z in ZONES:
                self.zone(z)
            for z in ZONES:
                self.ready(z)
            if first and not again:
                for z in ZONES:
                    self.running["zone-" + z].send_signal(signal.SIGTERM)
                    self.running["zone-" + z].wait()
        for z in ZONES:
            self.groups[z].limit(self.args.cores)

    def ready(self, z):
        end = time.time() + 900
        while time.time() < end:
            for zone in self.seen(z) or []:
                if zone["name"] == z and any(r["state"] == "ready" for r in zone["replicas"]):
                    return
            time.sleep(0.5)
        sys.exit(f"zone {z} is not ready after 15 minutes: see {self.work / ('zone-' + z)}.log")

    def seen(self, z):
        """The zones as the process of one zone reports them; None while it does not answer."""
        try:
            session = json.loads((self.work / ("zone-" + z) / "run.json").read_text())
            r = urllib.request.Request(session["address"] + "/api/v1/zones", headers={"Authorization": "Bearer " + session["token"]})
            return json.load(urllib.request.urlopen(r, timeout=1))["zones"]
        except (OSError, ValueError, KeyError):
            return None

    def balancer(self):
        servers = "\n".join(f"  server {z} 127.0.0.1:{zone_port(i, 'http')} check" for i, z in enumerate(ZONES))
        path = self.work / "haproxy.cfg"
        path.write_text(HAPROXY.format(lb=PORT["lb"], servers=servers))
        self.groups["load"].limit(self.args.load_cores)
        self.start("haproxy", ["haproxy", "-f", path, "-db"], within=self.groups["load"], wait=f"http://127.0.0.1:{PORT['lb']}/healthz")

    def load(self, rate, seconds, name):
        command = [self.args.mkshop, "load", "-url", URL % PORT["lb"], "-queries", self.args.queries, "-rate", str(rate), "-duration", f"{seconds}s",
                   "-timeout", "2s", "-ramp", "5s", "-json", "-out", self.work / (name + ".jsonl")]
        out = open(self.work / (name + ".json"), "wb")
        return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, preexec_fn=self.groups["load"].enter)

    def watch(self, stop, rows):
        """Records once a second the fraction of its CPU that each zone used, and the share of its policy."""
        began, before = time.time(), {z: g.used() for z, g in self.groups.items()}
        last = began
        while not stop.wait(1):
            now, used = time.time(), {z: g.used() for z, g in self.groups.items()}
            row = {"t": round(now - began, 1)}
            for z in self.groups:
                row["cpu-" + z] = round((used[z] - before[z]) / (now - last) / (self.args.cores if z != "load" else self.args.load_cores), 3)
            for z in ZONES:
                if (zones := self.seen(z)) is not None:
                    for zone in zones:
                        if zone["name"] == z and zone["replicas"]:
                            row["share-" + z] = round(min(r["share"] for r in zone["replicas"]), 3)
            rows.append(row)
            before, last = used, now

    def play(self, rate, seconds, name, events=()):
        """Sends load for some seconds; events are pairs of a second and a function."""
        stop, rows = threading.Event(), []
        watcher = threading.Thread(target=self.watch, args=(stop, rows), daemon=True)
        watcher.start()
        began, load = time.time(), self.load(rate, seconds, name)
        for at, do in events:
            time.sleep(max(0, began + at - time.time()))
            do()
        load.wait()
        stop.set()
        watcher.join()
        result = json.loads((self.work / (name + ".json")).read_text())
        (self.work / (name + "-zones.json")).write_text(json.dumps(rows))
        return result, rows

    def kill(self, z):
        print(f"killing zone {z} (SIGKILL)", flush=True)
        p = self.running.pop("zone-" + z)
        p.kill()
        p.wait()

    def stop(self):
        for name in reversed(list(self.running)):
            p = self.running[name]
            p.send_signal(signal.SIGINT if name == "postgres" else signal.SIGTERM)
            try:
                p.wait(60)
            except subprocess.TimeoutExpired:
                p.kill()


def mean(rows, name, low, high):
    values = [r[name] for r in rows if low <= r["t"] < high and name in r]
    return sum(values) / len(values) if values else float("nan")


def normal_rate(stand, want):
    """The rate of queries at which the zones use the wanted fraction of their CPU."""
    rate = 100.0
    for _ in range(4):
        _, rows = stand.play(rate, 20, "calibrate")
        used = sum(mean(rows, "cpu-" + z, 7, 20) for z in ZONES) / len(ZONES)
        print(f"{rate:.0f} queries/s use {used:.0%} of the zones' CPU", flush=True)
        if abs(used - want) < 0.02:
            break
        rate *= want / used
    return rate


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--courant", default="bin/courant")
    p.add_argument("--mkshop", required=True)
    p.add_argument("--catalogs", required=True, help="glob pattern of catalogue files")
    p.add_argument("--queries", required=True)
    p.add_argument("--synonyms", default="")
    p.add_argument("--model", default="", help="ranking model; the built-in one if empty")
    p.add_argument("--pg-bin", default=(sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [""])[-1])
    p.add_argument("--work", default="/tmp/courant-zones")
    p.add_argument("--policy", default="feed-forward", help="index.policy of the zones")
    p.add_argument("--cores", type=float, default=0.4, help="CPU quota of a zone")
    p.add_argument("--load-cores", type=float, default=0.4)
    p.add_argument("--busy", type=float, default=0.82, help="fraction of the zones' CPU used in normal times")
    p.add_argument("--rate", type=float, help="queries per second, instead of searching for the rate")
    p.add_argument("--lost", type=int, default=1)
    p.add_argument("--calm", type=int, default=60)
    p.add_argument("--outage", type=int, default=180)
    p.add_argument("--after", type=int, default=60)
    p.add_argument("--name", default="run")
    args = p.parse_args()
    stand = Stand(args)
    try:
        stand.postgres()
        stand.hub()
        stand.zones()
        stand.balancer()
        rate = args.rate or normal_rate(stand, args.busy)
        lost = ZONES[:args.lost]
        events = [(args.calm, lambda: [stand.kill(z) for z in lost]), (args.calm + args.outage, lambda: [stand.zone(z) for z in lost])]
        result, rows = stand.play(rate, args.calm + args.outage + args.after, args.name, events)
        report(args, rate, result, rows)
    finally:
        stand.stop()


def report(args, rate, result, rows):
    phases = [("calm", 10, args.calm), ("first 10 s", args.calm, args.calm + 10), ("outage", args.calm + 10, args.calm + args.outage),
              ("back", args.calm + args.outage, args.calm + args.outage + args.after)]
    print(f"policy {args.policy}, {rate:.0f} queries/s, {args.lost} of {len(ZONES)} zones lost")
    print(f"{'':12}{'sent':>8}{'errors':>8}{'empty':>8}{'p50':>8}{'p99':>8}{'ranked':>8}{'cpu':>8}")
    for name, low, high in phases:
        seconds = [s for s in result["series"] if low <= s["t"] < high]
        sent, errors, empty = (sum(s.get(k, 0) for s in seconds) for k in ("sent", "errors", "empty"))
        p50, p99 = (sorted(s[k] for s in seconds if s["ok"]) or [float("nan")] for k in ("ms_p50", "ms_p99"))
        coverage = [s["coverage"] for s in seconds if s.get("coverage") is not None]
        alive = [z for z in ZONES if name in ("calm", "back") or z not in ZONES[:args.lost]]
        cpu = sum(mean(rows, "cpu-" + z, low, high) for z in alive) / len(alive)
        print(f"{name:12}{sent:8}{errors:8}{empty:8}{p50[len(p50) // 2]:8.1f}{p99[len(p99) // 2]:8.1f}"
              f"{sum(coverage) / max(len(coverage), 1):8.3f}{cpu:8.2f}")
    print("errors by kind:", result.get("errors"))


if __name__ == "__main__":
    main()
