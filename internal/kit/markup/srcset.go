package markup

import (
	"strconv"
	"strings"
)

// candidate is one entry of a srcset. Score grows with the width.
type candidate struct {
	url   string
	score float64
}

// best returns the best address of a srcset with its score: its width in pixels, or a
// substitute for it; "" if there is none.
func best(srcset string) (string, float64) {
	var top candidate
	for n := 0; srcset != "" && n < maxAttrs; n++ {
		var c candidate
		c, srcset = nextCandidate(srcset)
		if c.score > top.score && !strings.HasPrefix(c.url, "data:") {
			top = c
		}
	}
	return top.url, top.score
}

// nextCandidate reads one entry as in the HTML standard: a comma is part of an address
// unless it ends it, and part of a descriptor inside parentheses.
func nextCandidate(s string) (candidate, string) {
	i := 0
	for i < len(s) && (isBlank(s[i]) || s[i] == ',') {
		i++
	}
	start := i
	for i < len(s) && !isBlank(s[i]) {
		i++
	}
	url := s[start:i]
	if trimmed := strings.TrimRight(url, ","); trimmed != url {
		return candidate{url: trimmed, score: 1}, s[i:]
	}
	end := i
	for depth := 0; end < len(s) && (s[end] != ',' || depth > 0); end++ {
		switch s[end] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	c := candidate{url: url, score: descriptor(s[i:end])}
	if url == "" {
		c.score = 0
	}
	return c, s[end:]
}

// descriptor returns 640 for "640w" and 2 for "2x"; a srcset never mixes them.
func descriptor(s string) float64 {
	for field := range strings.FieldsSeq(s) {
		unit := field[len(field)-1]
		if unit != 'w' && unit != 'x' {
			continue
		}
		if v, err := strconv.ParseFloat(field[:len(field)-1], 64); err == nil && v > 0 && v < 1e6 {
			return v
		}
	}
	return 1
}
