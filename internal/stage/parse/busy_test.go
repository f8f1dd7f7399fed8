package parse

import (
	"log/slog"
	"testing"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

func TestASourceWhoseParsingFailedIsParsedAgain(t *testing.T) {
	s, faults := storetest.Faulty(t)
	p := &Parse{Store: s, Log: slog.New(slog.DiscardHandler)}
	faults.Blind(true)
	// A second notification comes while the first one is worked on, which then fails.
	if !p.enter(1) || p.enter(1) {
		t.Fatal("a source is parsed by one goroutine at a time")
	}
	p.free(1)
	if err := p.fetched(t.Context(), flow.Poll{Source: 1}); err == nil {
		t.Fatal("the store could be read")
	}
	faults.Blind(false)
	if _, busy := p.busy[1]; busy {
		t.Error("after the error nobody may parse the source any more")
	}
	if err := p.fetched(t.Context(), flow.Poll{Source: 1}); err != nil {
		t.Error(err)
	}
	if !p.enter(1) || p.enter(1) || !p.leave(1) || p.leave(1) || !p.enter(1) {
		t.Error("what was announced meanwhile is parsed once more, and then the source is free")
	}
}
