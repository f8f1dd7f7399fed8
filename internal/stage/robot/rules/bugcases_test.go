package rules

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestBugCasesOfOtherRobots(t *testing.T) {
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = "../../../../../shared"
	}
	dir := filepath.Join(shared, "suites/bugcases")
	f, err := os.Open(filepath.Join(dir, "cases.jsonl"))
	if err != nil {
		t.Skip("the bug cases are not beside the checkout: ", err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			ID, Kind string
			Input    json.RawMessage // a name, of this kind of case
			Checks   []json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Kind != "robots" {
			continue
		}
		n++
		var input string
		if err := json.Unmarshal(c.Input, &input); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, input))
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range c.Checks {
			var check struct {
				Agent, Path string
				Allowed     bool
			}
			if err := json.Unmarshal(raw, &check); err != nil {
				t.Fatal(err)
			}
			if got := Parse(text, check.Agent).Allowed(check.Path); got != check.Allowed {
				t.Errorf("%s: %s for %s: allowed is %v", c.ID, check.Path, check.Agent, got)
			}
		}
		if c.ID == "R04" {
			if own, other := Parse(text, "ourbot").Delay, Parse(text, "other").Delay; own != 0 || other != time.Minute {
				t.Errorf("R04: delays %v and %v", own, other)
			}
		}
	}
	if n == 0 {
		t.Error("there are no cases")
	}
}
