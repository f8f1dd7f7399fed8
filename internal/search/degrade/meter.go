package degrade

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Meter reads the CPU use from the kernel: that of the process's cgroup if it has a
// limit, else that of the machine. Only Linux is supported; elsewhere readings are empty.
type Meter struct {
	Root fs.FS // of the file system, the real one unless set
}

// Reading is what a meter reads. Durations are totals since an arbitrary start.
type Reading struct {
	At       time.Time
	Source   string  // "cgroup v2 PATH", "cgroup v1 PATH", "machine", or "" if nothing is known
	Capacity float64 // cores
	Used     time.Duration
	RunDelay time.Duration // that threads of the process were runnable and did not run
	Pressure time.Duration // in which some thread waited for a CPU
}

// Machine is the use between two readings, per second.
type Machine struct {
	Capacity float64 // cores, 0 if nothing is known
	Quota    bool    // Capacity is the limit of a cgroup
	Used     float64 // cores, at most Capacity
	RunDelay float64 // cores' worth
	Pressure float64 // fraction of the time
}

const machine = "machine" // the Source without a quota

// Between is the use between two readings; the zero Machine if they cannot be compared.
func Between(a, b Reading) Machine {
	dt := b.At.Sub(a.At).Seconds()
	if dt <= 0 || b.Source == "" || a.Source != b.Source || b.Used < a.Used {
		return Machine{}
	}
	m := Machine{Capacity: b.Capacity, Quota: b.Source != machine, Used: min((b.Used-a.Used).Seconds()/dt, b.Capacity)}
	m.RunDelay = max((b.RunDelay-a.RunDelay).Seconds()/dt, 0) // the delays of threads that ended are gone
	m.Pressure = between(0, (b.Pressure-a.Pressure).Seconds()/dt, 1)
	return m
}

const (
	cgroupRoot = "sys/fs/cgroup"
	clockTick  = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
)

// Read reads everything. What is missing is zero.
func (m *Meter) Read(now time.Time) Reading {
	root := m.Root
	if root == nil {
		if runtime.GOOS != "linux" {
			return Reading{At: now}
		}
		root = os.DirFS("/")
	}
	k := kernel{root}
	r, ok := k.cgroup2()
	if !ok {
		r, ok = k.cgroup1()
	}
	if !ok {
		r = k.machine()
	}
	r.At, r.RunDelay = now, k.runDelay()
	if r.Pressure == 0 && r.Source != "" {
		r.Pressure = k.pressure("proc/pressure/cpu")
	}
	return r
}

// kernel reads the files of procfs and of the cgroups.
type kernel struct{ root fs.FS }

// machine is the use of all cores. Time that the hypervisor stole counts as used,
// because it is not available.
func (k kernel) machine() Reading {
	text := k.text("proc/stat")
	var r Reading
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 9 || !strings.HasPrefix(f[0], "cpu") {
			continue
		}
		if f[0] != "cpu" {
			r.Capacity++
			continue
		}
		for _, i := range []int{1, 2, 3, 6, 7, 8} { // user nice system irq softirq steal
			r.Used += time.Duration(number(f[i])) * clockTick
		}
	}
	if r.Capacity > 0 {
		r.Source = machine
	}
	return r
}

// cgroup2 is the tightest cpu.max (v2) from the process's group up to the root.
func (k kernel) cgroup2() (r Reading, ok bool) {
	own, found := k.group("")
	if !found {
		return r, false
	}
	for _, mount := range []string{cgroupRoot, cgroupRoot + "/unified"} {
		for dir := own; ; dir = path.Dir(dir) {
			at := path.Join(mount, dir)
			f := strings.Fields(k.text(at + "/cpu.max"))
			if cores := quota(f); cores > 0 && (!ok || cores < r.Capacity) {
				r, ok = Reading{Source: "cgroup v2 " + dir, Capacity: cores,
					Used:     time.Duration(k.field(at+"/cpu.stat", "usage_usec")) * time.Microsecond,
					Pressure: k.pressure(at + "/cpu.pressure")}, true
			}
			if dir == "/" {
				break
			}
		}
	}
	return r, ok
}

// cgroup1 is the same from cpu.cfs_quota_us and cpuacct.usage (v1). Inside a container
// the paths of /proc/self/cgroup may be those of the host; then the process's group is
// the root of the mount.
func (k kernel) cgroup1() (r Reading, ok bool) {
	own, found := k.group("cpu")
	if !found {
		return r, false
	}
	for dir := own; ; dir = path.Dir(dir) {
		at := path.Join(cgroupRoot, "cpu", dir)
		if !k.exists(at) {
			at = path.Join(cgroupRoot, "cpu,cpuacct", dir)
		}
		f := []string{strings.TrimSpace(k.text(at + "/cpu.cfs_quota_us")), strings.TrimSpace(k.text(at + "/cpu.cfs_period_us"))}
		if cores := quota(f); cores > 0 && (!ok || cores < r.Capacity) {
			r, ok = Reading{Source: "cgroup v1 " + dir, Capacity: cores, Used: k.accounted(dir, at)}, true
		}
		if dir == "/" {
			return r, ok && r.Used > 0
		}
	}
}

func (k kernel) accounted(dir, at string) time.Duration {
	for _, d := range []string{at, path.Join(cgroupRoot, "cpuacct", dir)} {
		if n := number(strings.TrimSpace(k.text(d + "/cpuacct.usage"))); n > 0 {
			return time.Duration(n)
		}
	}
	return 0
}

// group is the path of the process's cgroup under a controller of v1, or of v2 for "".
func (k kernel) group(controller string) (string, bool) {
	for line := range strings.Lines(k.text("proc/self/cgroup")) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		for c := range strings.SplitSeq(f[1], ",") {
			if c == controller {
				return path.Join("/", f[2]), true
			}
		}
	}
	return "", false
}

// runDelay sums over the threads, because /proc/self/schedstat covers only the main one.
func (k kernel) runDelay() (sum time.Duration) {
	tasks, err := fs.ReadDir(k.root, "proc/self/task")
	if err != nil {
		return k.delay("proc/self/schedstat")
	}
	for _, t := range tasks {
		sum += k.delay("proc/self/task/" + t.Name() + "/schedstat")
	}
	return sum
}

func (k kernel) delay(name string) time.Duration {
	f := strings.Fields(k.text(name))
	if len(f) < 2 {
		return 0
	}
	return time.Duration(number(f[1]))
}

// pressure is the total of the line "some" of a pressure file.
func (k kernel) pressure(name string) time.Duration {
	for line := range strings.Lines(k.text(name)) {
		some, is := strings.CutPrefix(line, "some ")
		if _, total, ok := strings.Cut(some, "total="); is && ok {
			return time.Duration(number(strings.TrimSpace(total))) * time.Microsecond
		}
	}
	return 0
}

// field is the value of a key in a file with a key and a value on each line.
func (k kernel) field(name, key string) int64 {
	for line := range strings.Lines(k.text(name)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == key {
			return number(f[1])
		}
	}
	return 0
}

func (k kernel) exists(name string) bool {
	_, err := fs.Stat(k.root, name)
	return err == nil
}

func (k kernel) text(name string) string {
	b, err := fs.ReadFile(k.root, name)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b)) + "\n"
}

// quota is a limit in cores from quota and period, 0 if there is none.
func quota(f []string) float64 {
	if len(f) < 2 {
		return 0
	}
	limit, period := number(f[0]), number(f[1])
	if limit <= 0 || period <= 0 {
		return 0
	}
	return float64(limit) / float64(period)
}

// number parses a number; 0 if it is not one, such as max.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
