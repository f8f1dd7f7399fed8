//go:build !amd64 || purego || noasm

package gbdt

// packed is what a kernel keeps beside the trees.
type packed struct{ words []wordTree }

// kernels are those that this machine can run, the best one first.
func kernels() []kernel {
	return []kernel{{"portable", portable, packWords}}
}

func compress(to []byte, n int, from []byte, half int, docs uint64) {
	compressPlain(to, n, from, half, docs)
}
