//go:build !amd64 || purego || noasm

package gbdt

// packed are the trees in the form of the portable kernel.
type packed struct{ words []wordTree }

func pack(trees []rankTree) packed { return packed{packWords(trees)} }

// kernels are those that this machine can run, the best one first.
func kernels() []kernel {
	return []kernel{{"portable", portable}}
}

func compress(to []byte, n int, from []byte, half int, docs uint64) {
	compressPlain(to, n, from, half, docs)
}
