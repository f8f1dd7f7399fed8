package gbdt

import (
	"encoding/binary"
	"math/bits"
)

// cityHash64 is CityHash64 of version 1.0.3 (Geoff Pike, Jyrki Alakuijala,
// Google), which CatBoost keeps to; later versions hash otherwise.
func cityHash64(s string) uint64 {
	b := []byte(s)
	switch n := len(b); {
	case n <= 16:
		return hashTo16(b)
	case n <= 32:
		return hash17to32(b)
	case n <= 64:
		return hash33to64(b)
	}
	return hashLong(b)
}

const (
	k0   = 0xc3a5c85c97cb3127
	k1   = 0xb492b66fbe98f273
	k2   = 0x9ae16a3b2f90404f
	k3   = 0xc949d7c7509e6557
	kMul = 0x9ddfea08eb382d69
)

func word(b []byte, at int) uint64  { return binary.LittleEndian.Uint64(b[at:]) }
func right(v uint64, by int) uint64 { return bits.RotateLeft64(v, -by) }
func shiftMix(v uint64) uint64      { return v ^ v>>47 }
func hash128to64(low, high uint64) uint64 {
	return shiftMix((high^shiftMix((low^high)*kMul))*kMul) * kMul
}

func hashTo16(b []byte) uint64 {
	switch n := len(b); {
	case n > 8:
		last := word(b, n-8)
		return hash128to64(word(b, 0), right(last+uint64(n), n)) ^ last
	case n >= 4:
		first := uint64(binary.LittleEndian.Uint32(b))
		return hash128to64(uint64(n)+first<<3, uint64(binary.LittleEndian.Uint32(b[n-4:])))
	case n > 0:
		y := uint64(b[0]) + uint64(b[n>>1])<<8
		z := uint64(n) + uint64(b[n-1])<<2
		return shiftMix(y*k2^z*k3) * k2
	}
	return k2
}

func hash17to32(s []byte) uint64 {
	n := len(s)
	a, b, c, d := word(s, 0)*k1, word(s, 8), word(s, n-8)*k2, word(s, n-16)*k0
	return hash128to64(right(a-b, 43)+right(c, 30)+d, a+right(b^k3, 20)-c+uint64(n))
}

func hash33to64(s []byte) uint64 {
	n := len(s)
	first, second := half33to64(s, word(s, 0)+(uint64(n)+word(s, n-16))*k0, word(s, 24), 0)
	a, z := word(s, 16)+word(s, n-32), word(s, n-8)
	third, fourth := half33to64(s, a, z, n-32)
	r := shiftMix((first+fourth)*k2 + (third+second)*k0)
	return shiftMix(r*k0+second) * k2
}

// half33to64 mixes the four words at a place, of which a and z bring the first
// and the last.
func half33to64(s []byte, a, z uint64, at int) (uint64, uint64) {
	b, c := right(a+z, 52), right(a, 37)
	a += word(s, at+8)
	c += right(a, 7)
	a += word(s, at+16)
	return a + z, b + right(a, 31) + c
}

// pair is the weak hash of 32 bytes.
type pair struct{ first, second uint64 }

func weak(s []byte, a, b uint64) pair {
	w, x, y, z := word(s, 0), word(s, 8), word(s, 16), word(s, 24)
	a += w
	b = right(b+a+z, 21)
	c := a
	a += x + y
	b += right(a, 44)
	return pair{a + z, b + c}
}

func hashLong(s []byte) uint64 {
	n := len(s)
	x, y, z := word(s, 0), word(s, n-16)^k1, word(s, n-56)^k0
	v := weak(s[n-64:], uint64(n), y)
	w := weak(s[n-32:], uint64(n)*k1, k0)
	z += shiftMix(v.second) * k1
	x = right(z+x, 39) * k1
	y = right(y, 33) * k1
	for rest := (n - 1) &^ 63; rest > 0; rest -= 64 {
		x = right(x+y+v.first+word(s, 16), 37) * k1
		y = right(y+v.second+word(s, 48), 42) * k1
		x ^= w.second
		y ^= v.first
		z = right(z^w.first, 33)
		v = weak(s, v.second*k1, x+w.first)
		w = weak(s[32:], z+w.second, y)
		z, x = x, z
		s = s[64:]
	}
	return hash128to64(hash128to64(v.first, w.first)+shiftMix(y)*k1+z, hash128to64(v.second, w.second)+x)
}
