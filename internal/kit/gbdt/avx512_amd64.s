//go:build !purego && !noasm

#include "go_asm.h"
#include "textflag.h"

// BEGIN loads the arguments, which both kernels share, and clears the sums.
//
// DI: scores. BX: address of the pointers to the parts. SI: trees. CX: number of trees.
// R10: next address to prefetch. R11: cache lines to prefetch per tree. Z2, Z3: leaf
// indexes of documents 0-63 and 64-127. Z8 to Z11: sums in words; two registers for each
// half, which alternate every eight documents. Z16 to Z23: the bits of a leaf's index.
#define BEGIN \
	MOVQ         scores+0(FP), DI  \
	LEAQ         stored+8(FP), BX  \
	MOVQ         stored+8(FP), R10 \
	MOVQ         trees+24(FP), SI  \
	MOVQ         n+32(FP), CX      \
	ADDQ         ahead+40(FP), R10 \
	MOVQ         lines+48(FP), R11 \
	MOVL         $0x01010101, AX   \
	VPBROADCASTD AX, Z16           \
	VPADDB       Z16, Z16, Z17     \
	VPADDB       Z17, Z17, Z18     \
	VPADDB       Z18, Z18, Z19     \
	VPADDB       Z19, Z19, Z20     \
	VPADDB       Z20, Z20, Z21     \
	VPADDB       Z21, Z21, Z22     \
	VPADDB       Z22, Z22, Z23     \
	VPXORQ       Z8, Z8, Z8        \
	VPXORQ       Z9, Z9, Z9        \
	VPXORQ       Z10, Z10, Z10     \
	VPXORQ       Z11, Z11, Z11

// SPLIT compares the row of a CUT with its bin, for 128 documents, and sets BIT in the
// leaf indexes of those above. $1 is LT: the cut is less than the bin.
#define SPLIT(CUT, BIT) \
	MOVL         (CUT+packedCut_part)(SI), AX  \
	MOVQ         (CUT+packedCut_row)(SI), DX   \
	ADDQ         (BX)(AX*1), DX                \
	VPBROADCASTD (CUT+packedCut_above)(SI), Z0 \
	VPCMPUB      $1, (DX), Z0, K1              \
	VPCMPUB      $1, 64(DX), Z0, K2            \
	VPADDB       BIT, Z2, K1, Z2               \
	VPADDB       BIT, Z3, K2, Z3

// ADDLEAVES adds the leaves whose low and high bytes are in Z4 and Z5 for
// documents 0-63, in Z6 and Z7 for the others.
#define ADDLEAVES \
	VPUNPCKLBW Z5, Z4, Z12   \
	VPUNPCKHBW Z5, Z4, Z13   \
	VPUNPCKLBW Z7, Z6, Z14   \
	VPUNPCKHBW Z7, Z6, Z15   \
	VPADDW     Z12, Z8, Z8   \
	VPADDW     Z13, Z9, Z9   \
	VPADDW     Z14, Z10, Z10 \
	VPADDW     Z15, Z11, Z11

// WIDEN adds 32 words of WA and WB each, which alternate every eight, to the scores at
// AT. It clobbers them.
#define WIDEN(WA, WB, AT) \
	VMOVDQA64     Z24, Z0              \
	VPERMI2Q      WB, WA, Z0           \
	VMOVDQA64     Z25, Z1              \
	VPERMI2Q      WB, WA, Z1           \
	VEXTRACTI64X4 $1, Z0, Y2           \
	VEXTRACTI64X4 $1, Z1, Y3           \
	VPMOVZXWD     Y0, Z0               \
	VPMOVZXWD     Y2, Z2               \
	VPMOVZXWD     Y1, Z1               \
	VPMOVZXWD     Y3, Z3               \
	VPADDD        (AT)(DI), Z0, Z0     \
	VPADDD        (AT+64)(DI), Z2, Z2  \
	VPADDD        (AT+128)(DI), Z1, Z1 \
	VPADDD        (AT+192)(DI), Z3, Z3 \
	VMOVDQU32     Z0, (AT)(DI)         \
	VMOVDQU32     Z2, (AT+64)(DI)      \
	VMOVDQU32     Z1, (AT+128)(DI)     \
	VMOVDQU32     Z3, (AT+192)(DI)

// The permutations for words 0 to 31 and 32 to 63 of two registers that alternate every
// eight words.
DATA turns<>+0(SB)/8, $0
DATA turns<>+8(SB)/8, $1
DATA turns<>+16(SB)/8, $8
DATA turns<>+24(SB)/8, $9
DATA turns<>+32(SB)/8, $2
DATA turns<>+40(SB)/8, $3
DATA turns<>+48(SB)/8, $10
DATA turns<>+56(SB)/8, $11
DATA turns<>+64(SB)/8, $4
DATA turns<>+72(SB)/8, $5
DATA turns<>+80(SB)/8, $12
DATA turns<>+88(SB)/8, $13
DATA turns<>+96(SB)/8, $6
DATA turns<>+104(SB)/8, $7
DATA turns<>+112(SB)/8, $14
DATA turns<>+120(SB)/8, $15
GLOBL turns<>(SB), RODATA|NOPTR, $128

// END adds the sums to the scores.
#define END \
	VMOVDQU64 turns<>+0(SB), Z24  \
	VMOVDQU64 turns<>+64(SB), Z25 \
	WIDEN(Z8, Z9, 0)              \
	WIDEN(Z10, Z11, 256)          \
	VZEROUPPER

// func addShallow(scores *Scores, stored, computed *byte, trees *shallowTree, n, ahead, lines int)
TEXT ·addShallow(SB), NOSPLIT, $0-56
	BEGIN

tree:
	MOVQ  R11, AX
	TESTQ AX, AX
	JZ    number

ask:
	PREFETCHT0 (R10)
	ADDQ       $64, R10
	DECQ       AX
	JNZ        ask

number:
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	MOVQ   shallowTree_depth(SI), AX
	CMPQ   AX, $6
	JEQ    six
	CMPQ   AX, $5
	JEQ    five
	CMPQ   AX, $4
	JEQ    four
	CMPQ   AX, $3
	JEQ    three
	CMPQ   AX, $2
	JEQ    two
	CMPQ   AX, $1
	JEQ    one
	JMP    leaves

six:
	SPLIT(shallowTree_cuts+5*packedCut__size, Z21)

five:
	SPLIT(shallowTree_cuts+4*packedCut__size, Z20)

four:
	SPLIT(shallowTree_cuts+3*packedCut__size, Z19)

three:
	SPLIT(shallowTree_cuts+2*packedCut__size, Z18)

two:
	SPLIT(shallowTree_cuts+1*packedCut__size, Z17)

one:
	SPLIT(shallowTree_cuts+0*packedCut__size, Z16)

leaves:
	VMOVDQU8 shallowTree_low(SI), Z0
	VMOVDQU8 shallowTree_high(SI), Z1
	VPERMB   Z0, Z2, Z4
	VPERMB   Z1, Z2, Z5
	VPERMB   Z0, Z3, Z6
	VPERMB   Z1, Z3, Z7
	ADDLEAVES
	ADDQ     $shallowTree__size, SI
	DECQ     CX
	JNZ      tree
	END
	RET

// LOOKUP looks up bytes in a table of 256 at AT by the indexes in NUMBER, whose high bits
// are in HIGH: 128 entries at a time.
#define LOOKUP(AT, NUMBER, HIGH, TO) \
	VMOVDQA64 NUMBER, TO            \
	VMOVDQA64 NUMBER, Z1            \
	VMOVDQU8  (AT)(SI), Z26         \
	VMOVDQU8  (AT+128)(SI), Z27     \
	VPERMI2B  (AT+64)(SI), Z26, TO  \
	VPERMI2B  (AT+192)(SI), Z27, Z1 \
	VPBLENDMB Z1, TO, HIGH, TO

// func addDeep(scores *Scores, stored, computed *byte, trees *deepTree, n, ahead, lines int)
TEXT ·addDeep(SB), NOSPLIT, $0-56
	BEGIN

tree:
	MOVQ  R11, AX
	TESTQ AX, AX
	JZ    number

ask:
	PREFETCHT0 (R10)
	ADDQ       $64, R10
	DECQ       AX
	JNZ        ask

number:
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	CMPQ   deepTree_depth(SI), $8
	JNE    seven
	SPLIT(deepTree_cuts+7*packedCut__size, Z23)

seven:
	SPLIT(deepTree_cuts+6*packedCut__size, Z22)
	SPLIT(deepTree_cuts+5*packedCut__size, Z21)
	SPLIT(deepTree_cuts+4*packedCut__size, Z20)
	SPLIT(deepTree_cuts+3*packedCut__size, Z19)
	SPLIT(deepTree_cuts+2*packedCut__size, Z18)
	SPLIT(deepTree_cuts+1*packedCut__size, Z17)
	SPLIT(deepTree_cuts+0*packedCut__size, Z16)
	VPMOVB2M Z2, K3
	VPMOVB2M Z3, K4
	LOOKUP(deepTree_low, Z2, K3, Z4)
	LOOKUP(deepTree_high, Z2, K3, Z5)
	LOOKUP(deepTree_low, Z3, K4, Z6)
	LOOKUP(deepTree_high, Z3, K4, Z7)
	ADDLEAVES
	ADDQ     $deepTree__size, SI
	DECQ     CX
	JNZ      tree
	END
	RET

// AHEAD is the distance in bytes for prefetching rows.
#define AHEAD 4096

// func compressRows(to *byte, n int, from *byte, rows int, docs uint64)
//
// It writes a whole register if that fits into the row, which overwrites only bytes that
// are not filled yet. Nearer to the end it rewrites the last 64 bytes of the row with the
// new bytes inserted.
TEXT ·compressRows(SB), NOSPLIT, $0-40
	MOVQ  to+0(FP), DI
	MOVQ  n+8(FP), CX
	MOVQ  from+16(FP), SI
	MOVQ  rows+24(FP), BX
	MOVQ  docs+32(FP), AX
	KMOVQ AX, K1
	CMPQ  CX, $64
	JGT   behind
	ADDQ  CX, DI

front:
	PREFETCHT0  AHEAD(SI)
	PREFETCHT0  AHEAD+64(SI)
	VMOVDQU8    (SI), Z0
	VPCOMPRESSB Z0, K1, Z1
	VMOVDQU8    Z1, (DI)
	ADDQ        $const_BlockSize, SI
	ADDQ        $const_BlockSize, DI
	DECQ        BX
	JNZ         front
	VZEROUPPER
	RET

behind:
	POPCNTQ AX, AX
	MOVQ    $-1, DX
	XCHGQ   AX, CX
	SHLQ    CX, DX
	NOTQ    DX
	LEAQ    -64(AX), CX
	SHLQ    CX, DX
	KMOVQ   DX, K2

next:
	PREFETCHT0  AHEAD(SI)
	PREFETCHT0  AHEAD+64(SI)
	VMOVDQU8    (SI), Z0
	VPCOMPRESSB Z0, K1, Z1
	VMOVDQU8    64(DI), Z2
	VPEXPANDB   Z1, K2, Z2
	VMOVDQU8    Z2, 64(DI)
	ADDQ        $const_BlockSize, SI
	ADDQ        $const_BlockSize, DI
	DECQ        BX
	JNZ         next
	VZEROUPPER
	RET

// func cpuid(leaf uint32) (a, b, c uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-20
	MOVL leaf+0(FP), AX
	XORL CX, CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	RET

// func xgetbv() uint32
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, ret+0(FP)
	RET
