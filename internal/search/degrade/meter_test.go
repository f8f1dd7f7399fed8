package degrade

import (
	"os"
	"runtime"
	"testing"
	"testing/fstest"
	"time"
)

// files is a root of files and their texts.
type files = fstest.MapFS

func root(texts map[string]string) files {
	f := files{}
	for name, text := range texts {
		f[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return f
}

const stat = "cpu  100 20 30 5000 7 1 2 3 50 0\ncpu0 50 10 15 2500 3 0 1 2 25 0\ncpu1 50 10 15 2500 4 1 1 1 25 0\nintr 1\n"

func TestAMeterReadsTheTightestLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  Reading
	}{
		{"a machine", map[string]string{"proc/stat": stat, "proc/pressure/cpu": "some avg10=1.00 avg60=2 avg300=3 total=5000\nfull avg10=0 total=9\n",
			"proc/self/task/1/schedstat": "100 200 3", "proc/self/task/2/schedstat": "100 300 3"},
			Reading{Source: "machine", Capacity: 2, Used: 156 * clockTick, RunDelay: 500, Pressure: 5 * time.Millisecond}},
		{"a group of v2 whose parent has the limit", map[string]string{"proc/stat": stat, "proc/self/cgroup": "0::/web/search\n",
			"sys/fs/cgroup/web/search/cpu.max": "max 100000\n", "sys/fs/cgroup/web/cpu.max": "150000 100000\n",
			"sys/fs/cgroup/web/cpu.stat": "usage_usec 2500\nuser_usec 1\n", "sys/fs/cgroup/web/cpu.pressure": "some avg10=0 avg60=0 avg300=0 total=70\n",
			"proc/self/schedstat": "100 200 3"},
			Reading{Source: "cgroup v2 /web", Capacity: 1.5, Used: 2500 * time.Microsecond, RunDelay: 200, Pressure: 70 * time.Microsecond}},
		{"a container of v2", map[string]string{"proc/stat": stat, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n", "sys/fs/cgroup/cpu.stat": "usage_usec 7\n"},
			Reading{Source: "cgroup v2 /", Capacity: 0.5, Used: 7 * time.Microsecond}},
		{"a container of v1 that sees the path of its host", map[string]string{"proc/stat": stat, "proc/self/cgroup": "4:cpu,cpuacct:/docker/1f\n0::/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n", "sys/fs/cgroup/cpuacct/cpuacct.usage": "12345\n"},
			Reading{Source: "cgroup v1 /", Capacity: 4, Used: 12345}},
		{"a group of v1 without a limit", map[string]string{"proc/stat": stat, "proc/self/cgroup": "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
			Reading{Source: "machine", Capacity: 2, Used: 156 * clockTick}},
		{"nonsense", map[string]string{"proc/stat": "cpu\ncpu x\n", "proc/self/cgroup": "::\n0\n", "sys/fs/cgroup/cpu.max": "x"}, Reading{}},
		{"another system", nil, Reading{}},
	} {
		c.want.At = ms(7)
		if got := (&Meter{Root: root(c.texts)}).Read(ms(7)); got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

func TestWhatHappenedIsTheDifference(t *testing.T) {
	a := Reading{At: ms(0), Source: "machine", Capacity: 2, Used: time.Second, RunDelay: time.Second, Pressure: time.Second}
	b := Reading{At: ms(500), Source: "machine", Capacity: 2, Used: 1750 * time.Millisecond, RunDelay: 900 * time.Millisecond, Pressure: 1100 * time.Millisecond}
	if got, want := Between(a, b), (Machine{Capacity: 2, Used: 1.5, Pressure: 0.2}); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	for _, other := range []Reading{{At: ms(500)}, {At: ms(500), Source: "cgroup v2 /"}, {At: ms(0), Source: "machine"}} {
		if got := Between(a, other); got != (Machine{}) {
			t.Errorf("%+v against %+v: %+v", a, other, got)
		}
	}
}

func TestTheMeterKnowsThisMachine(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil || runtime.GOOS != "linux" {
		if r := (&Meter{}).Read(ms(0)); r.Source != "" {
			t.Errorf("%+v", r)
		}
		return
	}
	r := (&Meter{}).Read(time.Now())
	if r.Source == "" || r.Capacity <= 0 || r.Used <= 0 {
		t.Errorf("%+v", r)
	}
}

func BenchmarkMeter(b *testing.B) {
	for b.Loop() {
		(&Meter{}).Read(time.Time{})
	}
}
