package wire

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

// fill gives every field below v a value that is not its zero, so that one which the
// wire forgets is missed.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if s := v.Addr().MethodByName("UnmarshalText"); s.IsValid() {
			if out := s.Call([]reflect.Value{reflect.ValueOf([]byte("2026-01-02T03:04:05Z"))}); !out[0].IsNil() {
				panic(out[0].Interface())
			}
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, n)
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.String:
		v.SetString("text" + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n) << 40)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	default:
		panic(v.Kind())
	}
}

func TestNothingOfAQueryIsLostOnTheWay(t *testing.T) {
	var a index.Ask
	n := 0
	fill(reflect.ValueOf(&a).Elem(), &n)
	var got Ask
	sent(t, FromAsk(&a), &got)
	if back := got.Into(); !reflect.DeepEqual(*back, a) {
		t.Errorf("sent\n%+v\ncame\n%+v", a, *back)
	}
}

func TestNothingOfAnAnswerIsLostOnTheWay(t *testing.T) {
	var p index.Part
	var load degrade.Report
	n := 0
	fill(reflect.ValueOf(&p).Elem(), &n)
	fill(reflect.ValueOf(&load).Elem(), &n)
	var got Part
	sent(t, FromPart(&p, load), &got)
	if back := got.Into(); !reflect.DeepEqual(back, p) {
		t.Errorf("sent\n%+v\ncame\n%+v", p, back)
	}
	if back := got.GetLoad().Into(); back != load {
		t.Errorf("sent %+v, came %+v", load, back)
	}
}

func TestNothingOfAStatusIsLostOnTheWay(t *testing.T) {
	var s index.Status
	n := 0
	fill(reflect.ValueOf(&s).Elem(), &n)
	var got StateReply
	sent(t, FromStatus(s, 7), &got)
	if back := got.Status(); !reflect.DeepEqual(back, s) || got.GetDocs() != 7 {
		t.Errorf("sent %+v, came %+v", s, back)
	}
}

func TestNothingOfSuggestionsIsLostOnTheWay(t *testing.T) {
	var b index.Begin
	var all []shard.Suggestion
	n := 0
	fill(reflect.ValueOf(&b).Elem(), &n)
	fill(reflect.ValueOf(&all).Elem(), &n)
	var begin Begin
	sent(t, FromBegin(&b), &begin)
	var got Suggestions
	sent(t, FromSuggestions(all), &got)
	if back := begin.Into(); !reflect.DeepEqual(*back, b) || !reflect.DeepEqual(got.Into(), all) {
		t.Errorf("sent %+v and %+v, came %+v and %+v", b, all, *back, got.Into())
	}
}

func sent(t *testing.T, from, to proto.Message) {
	t.Helper()
	text, err := proto.Marshal(from)
	if err == nil {
		err = proto.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
