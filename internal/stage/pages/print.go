package pages

import (
	"bytes"

	"github.com/klauspost/compress/gzip"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/light"
)

// rendered is a page ready to be served.
type rendered struct {
	html    []byte // gzip
	picture string // address of a small picture for listings; "" for none
}

// render renders and compresses the page of a document.
func (p *Pages) render(d document) (rendered, error) {
	z := p.zips.Get().(*zip)
	defer p.zips.Put(z)
	z.out.Reset()
	z.gzip.Reset(&z.out)
	picture, err := light.Render(z.gzip, light.Page{Document: d.doc, SourceTitle: d.sourceTitle, SourceName: d.sourceName,
		Foreign: d.rank == courant.Foreign, Pictures: d.media, Now: p.Store.Now()})
	if err == nil {
		err = z.gzip.Close()
	}
	return rendered{html: bytes.Clone(z.out.Bytes()), picture: picture}, err
}

// zip is a compressor with its buffers, which are large and reused.
type zip struct {
	out  bytes.Buffer
	gzip *gzip.Writer
}

func newZip() any {
	z, err := gzip.NewWriterLevel(nil, 1)
	if err != nil {
		panic(err) // the level is a constant
	}
	return &zip{gzip: z}
}
