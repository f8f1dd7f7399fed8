package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/search/plan"
)

// small is a search that is simulated quickly.
const small = "plan --servers 6 --shards 1 --cores 4 --query 100ms --fixed 10% --deadline 2s "

func TestPlanSaysHowManyServersCanGo(t *testing.T) {
	status, out, complaint := invoke(t, strings.Fields(small+"--load 40%")...)
	if status != 0 || complaint != "" || !strings.Contains(out, "SERVERS") || !strings.Contains(out, "3 of 6 servers can be removed (50 %): with 3 left and one zone lost") {
		t.Errorf("status %d, %q, %s", status, complaint, out)
	}
	_, out, _ = invoke(t, strings.Fields(small+"--load 0.4 --json")...)
	var a plan.Answer
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Servers != 3 || a.Can != 3 || len(a.Sizes) != 2 {
		t.Errorf("%v: %s", err, out)
	}
	curve := write(t, "curve.json", `[{"share":0.99,"lost":0.5}]`)
	status, out, _ = invoke(t, strings.Fields(small+"--load 80% --curve "+curve)...)
	if status != 0 || !strings.Contains(out, "No server can be removed: with all 6, more than 1 % of clicks are lost") {
		t.Errorf("status %d, %s", status, out)
	}
}

func TestPlanShowsPoliciesAndSeconds(t *testing.T) {
	status, out, _ := invoke(t, strings.Fields(small+"--policies --load 82%")...)
	if status != 0 || strings.Count(out, "\n") != 1+len(plan.Ways()) || !strings.Contains(out, "feed-forward and the brake") {
		t.Errorf("status %d, %s", status, out)
	}
	status, out, _ = invoke(t, strings.Fields(small+"--policies --load 82% --json")...)
	if status != 0 || strings.Count(out, "\n") != len(plan.Ways()) || !strings.HasPrefix(out, `{"name":"no degradation","normal":{"queries":`) {
		t.Errorf("status %d, %s", status, out)
	}
	status, out, _ = invoke(t, strings.Fields(small+"--seconds --load 82%")...)
	if status != 0 || strings.Count(out, "\n") != 301 {
		t.Errorf("status %d, %s", status, out)
	}
	status, out, _ = invoke(t, strings.Fields(small+"--seconds --load 82% --json")...)
	var s struct {
		Second   float64
		P99      float64 `json:"p99_ms"`
		InFlight []int   `json:"in_flight"`
	}
	if err := json.Unmarshal([]byte(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]), &s); status != 0 || err != nil || s.Second != 300 || s.P99 < 100 || s.P99 > 1000 || len(s.InFlight) != 3 {
		t.Errorf("status %d, %v: %+v", status, err, s)
	}
}

func TestPlanReportsInvalidFlags(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"--servers 25", "such as 27, not 25"}, {"--lost 3", "lost zones must be from 0 to 2 of 3"}, {"--load 60", "write 60% or 0.6"}, {"--load much", "write 60% or 0.6"},
		{"--load 0", "load must be above 0"}, {"--zones 0", "--zones must be at least 1"}, {"--shards 0", "--shards must be at least 1"}, {"--cores 0", "--cores must be at least 1"},
		{"--fixed 100%", "less than 100 %"}, {"--query 0s", "--query"}, {"--deadline 1ms", "deadline must be at least the 20ms"}, {"--curve /nonexistent", "--curve"},
		{"--curve " + write(t, "c", "[]"), "must have at least one point"}, {"--policies --seconds", "cannot be used together"}, {"now", "usage: courant plan"},
	} {
		status, out, complaint := invoke(t, append([]string{"plan"}, strings.Fields(c.args)...)...)
		if status != 2 || out != "" || !strings.Contains(complaint, c.says) || strings.Count(complaint, "\n") != 1 {
			t.Errorf("courant plan %s: status %d, says %q", c.args, status, complaint)
		}
	}
}
