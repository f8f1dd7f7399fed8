package gbdt_test

import (
	"fmt"

	"github.com/courant-platform/courant/internal/kit/gbdt"
)

// A cascade of two stages over one block: a tree for all documents, all trees
// for the better half.
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
	block := blockOf(scorer,
		[]float32{0, 0, 1},
		[]float32{1, 0, 2},
		[]float32{0, 0, 2},
		[]float32{1, 0, 1},
	)
	docs := gbdt.FirstOf(4)

	var scores gbdt.Scores
	scorer.Score(&scores, block, 0, 1)
	better := scores.AtLeast(gbdt.Threshold([]gbdt.Scores{scores}, []gbdt.Mask{docs}, 2), docs)

	best := blockOf(scorer)
	best.Append(0, block, better)
	scores = gbdt.Scores{}
	scorer.Score(&scores, best, 0, scorer.Trees())
	for i := range better.Count() {
		fmt.Printf("%.1f\n", scorer.Estimate(scores[i], 0, scorer.Trees()))
	}
	// Output:
	// 18.5
	// 16.5
}
