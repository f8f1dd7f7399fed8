//go:build !purego && !noasm

#include "go_asm.h"
#include "textflag.h"

// PUSH doubles the leaf indexes and subtracts 1 for documents whose bin is not above the
// CUT, that is if min(bin, cut) is the bin. Indexes start at 1 and therefore end as one
// more than the real index.
#define PUSH(CUT) \
	MOVL         (CUT+packedCut_part)(SI), AX  \
	MOVQ         (CUT+packedCut_row)(SI), DX   \
	ADDQ         (BX)(AX*1), DX                \
	VPBROADCASTD (CUT+packedCut_above)(SI), Y0 \
	VPMINUB      (DX)(R8*1), Y0, Y1            \
	VPMINUB      32(DX)(R8*1), Y0, Y4          \
	VPCMPEQB     (DX)(R8*1), Y1, Y1            \
	VPCMPEQB     32(DX)(R8*1), Y4, Y4          \
	VPADDB       Y2, Y2, Y2                    \
	VPADDB       Y3, Y3, Y3                    \
	VPADDB       Y1, Y2, Y2                    \
	VPADDB       Y4, Y3, Y3

// LOOKUP looks up bytes in a table of 64 at AT by the indexes in NUMBER: in each 16 of
// them by bits 0 to 3, then it selects by bits 4 and 5, which are the high bits of the
// bytes of Y0 and Y1.
#define LOOKUP(AT, NUMBER, TO) \
	VBROADCASTI128 (AT)(SI), Y12     \
	VBROADCASTI128 (AT+16)(SI), Y13  \
	VBROADCASTI128 (AT+32)(SI), Y14  \
	VBROADCASTI128 (AT+48)(SI), TO   \
	VPSHUFB        NUMBER, Y12, Y12  \
	VPSHUFB        NUMBER, Y13, Y13  \
	VPSHUFB        NUMBER, Y14, Y14  \
	VPSHUFB        NUMBER, TO, TO    \
	VPBLENDVB      Y0, Y13, Y12, Y12 \
	VPBLENDVB      Y0, TO, Y14, Y14  \
	VPBLENDVB      Y1, Y14, Y12, TO

// LEAVES adds the leaves of 32 documents to sums in words; WA and WB alternate every eight
// documents.
#define LEAVES(NUMBER, WA, WB) \
	VPADDB     Y15, NUMBER, NUMBER       \
	VPSLLW     $3, NUMBER, Y0            \
	VPSLLW     $2, NUMBER, Y1            \
	LOOKUP(shallowTree_low, NUMBER, Y5)  \
	LOOKUP(shallowTree_high, NUMBER, Y6) \
	VPUNPCKLBW Y6, Y5, Y12               \
	VPUNPCKHBW Y6, Y5, Y13               \
	VPADDW     Y12, WA, WA               \
	VPADDW     Y13, WB, WB

// WIDEN adds 16 words to the scores of eight documents at AT and of eight documents after
// the next eight.
#define WIDEN(X, Y, AT) \
	VPMOVZXWD    X, Y0               \
	VEXTRACTI128 $1, Y, X1           \
	VPMOVZXWD    X1, Y1              \
	VPADDD       (AT)(DI), Y0, Y0    \
	VPADDD       (AT+64)(DI), Y1, Y1 \
	VMOVDQU      Y0, (AT)(DI)        \
	VMOVDQU      Y1, (AT+64)(DI)

// func addAVX2(scores *Scores, stored, computed *byte, trees *shallowTree, n int)
//
// It adds the trees to the first 64 documents, then to the others. R8: offset of the half
// in a row. Y2, Y3: leaf indexes of 32 documents each. Y8 to Y11:
// sums in words. Y15: minus one in each byte.
TEXT ·addAVX2(SB), NOSPLIT, $0-40
	MOVQ     scores+0(FP), DI
	LEAQ     stored+8(FP), BX
	XORL     R8, R8
	VPCMPEQB Y15, Y15, Y15

half:
	MOVQ  trees+24(FP), SI
	MOVQ  n+32(FP), CX
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11

tree:
	VPABSB Y15, Y2
	VPABSB Y15, Y3
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
	PUSH(shallowTree_cuts+5*packedCut__size)

five:
	PUSH(shallowTree_cuts+4*packedCut__size)

four:
	PUSH(shallowTree_cuts+3*packedCut__size)

three:
	PUSH(shallowTree_cuts+2*packedCut__size)

two:
	PUSH(shallowTree_cuts+1*packedCut__size)

one:
	PUSH(shallowTree_cuts+0*packedCut__size)

leaves:
	LEAVES(Y2, Y8, Y9)
	LEAVES(Y3, Y10, Y11)
	ADDQ $shallowTree__size, SI
	DECQ CX
	JNZ  tree

	WIDEN(X8, Y8, 0)
	WIDEN(X9, Y9, 32)
	WIDEN(X10, Y10, 128)
	WIDEN(X11, Y11, 160)
	ADDQ $256, DI
	ADDQ $64, R8
	CMPQ R8, $128
	JLT  half
	VZEROUPPER
	RET
