//go:build !amd64 || purego || noasm

package gbdt

// packed holds the trees in the format of the portable kernel.
type packed struct{ words []wordTree }

func pack(trees []rankTree) packed { return packed{packWords(trees)} }

// kernels returns the kernels that this machine can run, the fastest first.
func kernels() []kernel {
	return []kernel{{"portable", portable}}
}

func compress(to []byte, n int, from []byte, half int, docs uint64) {
	compressPlain(to, n, from, half, docs)
}
