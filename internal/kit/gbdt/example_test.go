package gbdt_test

import (
	"fmt"

	"github.com/courant-platform/courant/internal/kit/gbdt"
)

// A cascade of two stages over one block: a tree for all documents, all trees
// for the better half, and the exact prediction of the best.
func Example() {
	model, err := gbdt.Read([]byte(whole))
	if err != nil {
		fmt.Println(err)
		return
	}
	scorer, err := gbdt.Compile(model, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	red, blue := gbdt.Category("red"), gbdt.Category("blue")
	block := blockOf(scorer,
		[]gbdt.Value{blue, 0, gbdt.Number(1)},
		[]gbdt.Value{red, 0, gbdt.Number(2)},
		[]gbdt.Value{blue, 0, gbdt.Number(2)},
		[]gbdt.Value{red, 0, gbdt.Number(1)},
	)
	docs := gbdt.FirstOf(4)

	var scores gbdt.Scores
	scorer.Score(&scores, block, 0, 1)
	better := scores.AtLeast(gbdt.Threshold([]gbdt.Scores{scores}, []gbdt.Mask{docs}, 2), docs)

	best := blockOf(scorer)
	best.Append(0, block, better)
	exact := make([]float64, better.Count())
	scorer.ExactAll(exact, best)
	fmt.Println(exact)
	// Output: [18.5 16.5]
}
