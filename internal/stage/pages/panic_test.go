package pages

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
)

func TestAPanicIsAnErrorAndHoldsUpNobody(t *testing.T) {
	p := &Pages{Log: slog.New(slog.DiscardHandler)} // without a store and a compressor: reading and rendering panic
	p.sets = gather{most: 4, leaders: 1, process: p.set}
	for i := range 3 {
		if err := p.ready(t.Context(), flow.Version{Source: int64(i)}); !errors.Is(err, courant.Invalid) {
			t.Errorf("processing: %v", err)
		}
	}
	docs := []*document{{}, nil, {err: context.Canceled}, {doc: courant.Document{Item: courant.Item{Withdrawn: true}}}}
	p.renderAll(docs)
	if !errors.Is(docs[0].err, courant.Invalid) || !errors.Is(docs[2].err, context.Canceled) || docs[3].err != nil {
		t.Errorf("rendering: %v, %v, %v", docs[0].err, docs[2].err, docs[3].err)
	}
}
