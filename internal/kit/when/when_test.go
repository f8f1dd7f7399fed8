package when_test

import (
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/when"
)

func TestDatesOfTheWebAreRead(t *testing.T) {
	for _, c := range []struct {
		in, want string
		zoned    bool
	}{
		{"Mon, 02 Jan 2006 15:04:05 -0700", "2006-01-02T22:04:05Z", true},
		{"Mon, 02 Jan 2006 15:04:05 GMT", "2006-01-02T15:04:05Z", true},
		{"2 Jan 06 15:04 EST", "2006-01-02T20:04:00Z", true},
		{"Tue, 20 Oct 18 10:00:00 +0300", "2018-10-20T07:00:00Z", true},
		{"2006-01-02T15:04:05.123Z", "2006-01-02T15:04:05.123Z", true},
		{"2006-01-02T15:04:05+03:00", "2006-01-02T12:04:05Z", true},
		{"2022-05-22T14:37+03:00", "2022-05-22T11:37:00Z", true},
		{"20250305T15:00:01", "2025-03-05T15:00:01Z", false},
		{"20250305T150001Z", "2025-03-05T15:00:01Z", true},
		{"20250305150001", "2025-03-05T15:00:01Z", false},
		{"2006-01-02 15:04", "2006-01-02T15:04:00Z", false},
		{"2006-01-02", "2006-01-02T00:00:00Z", false}, {"2006-01", "2006-01-01T00:00:00Z", false}, {"2006", "2006-01-01T00:00:00Z", false},
		{"2003-335", "2003-12-01T00:00:00Z", false}, {"03-12-31", "2003-12-31T00:00:00Z", false},
		{"Mon, 21 Apr 2025 06:00:00 EDT", "2025-04-21T10:00:00Z", true},
		{"Tue, 18 Sept 2018 15:53:56 +0300", "2018-09-18T12:53:56Z", true},
		{"Mon, May 25 2020 04:45:26 +0000", "2020-05-25T04:45:26Z", true},
		{"dom, 02 ott 2022 18:55:00 GMT", "2022-10-02T18:55:00Z", true},
		{"2017-08-01 13:55:44.364419679 +0200 CEST", "2017-08-01T11:55:44.364419679Z", true},
		{"Fri, 31 Mar 2023 20:19:00 America/Los_Angeles", "2023-04-01T03:19:00Z", true},
		{"Sunday, June 30, 2013 - 00:00", "2013-06-30T00:00:00Z", false},
		{"Mon, 06 Jan 2025 10:00:00 GMT+00:00", "2025-01-06T10:00:00Z", true},
		{"Mon, 06 Jan 2025 10:00:00 UTC+3", "2025-01-06T07:00:00Z", true},
		{"Sat, Dec 16 2023 02:02:33 PM", "2023-12-16T14:02:33Z", false},
		{"12/31/2023 12:05 AM", "2023-12-31T00:05:00Z", false}, {"31/12/2023", "2023-12-31T00:00:00Z", false}, {"31.12.2023 23:59", "2023-12-31T23:59:00Z", false},
		{"13 июня 2024 г., 15:00 МСК", "2024-06-13T12:00:00Z", true}, {"Ср, 13 Июн 2024 15:00:00 +0300", "2024-06-13T12:00:00Z", true},
		{"1. März 2024", "2024-03-01T00:00:00Z", false}, {"14 août 2024", "2024-08-14T00:00:00Z", false}, {"3 de julio de 2024", "2024-07-03T00:00:00Z", false},
		{"5 października 2024", "2024-10-05T00:00:00Z", false}, {"2024年5月17日", "2024-05-17T00:00:00Z", false},
		{"10-Jan-2024 24:00", "2024-01-11T00:00:00Z", false}, {"Wed Jan  3 15:04:05 MST 2024", "2024-01-03T22:04:05Z", true},
		{"Thu, 19 Jun 2014 17:00:00 +25:61", "2014-06-19T17:00:00Z", false},
		{"mardi 5 novembre 2024 10:00", "2024-11-05T10:00:00Z", false}, {"mar, 04 ott 2022 18:55:00 GMT", "2022-10-04T18:55:00Z", true},
		{"mar 5 2024", "2024-03-05T00:00:00Z", false}, {"Mar, 05/11/2024", "2024-05-11T00:00:00Z", false}, {"maandag 3 juni 2024", "2024-06-03T00:00:00Z", false},
		{"середа, 5 червня 2024", "2024-06-05T00:00:00Z", false}, {"Сер, 05 Чер 2024 10:00:00 +0300", "2024-06-05T07:00:00Z", true},
		{"5 Ağustos 2024", "2024-08-05T00:00:00Z", false}, {"10 Şubat 2024", "2024-02-10T00:00:00Z", false}, {"3. července 2024", "2024-07-03T00:00:00Z", false},
		{"3. června 2024", "2024-06-03T00:00:00Z", false}, {"15. marraskuuta 2024", "2024-11-15T00:00:00Z", false}, {"2024. március 5.", "2024-03-05T00:00:00Z", false},
		{"Τρι, 05 Μαρ 2024 10:00:00 +0200", "2024-03-05T08:00:00Z", true}, {"5 Ιουλίου 2024", "2024-07-05T00:00:00Z", false},
		{"5 юли 2024", "2024-07-05T00:00:00Z", false}, {"5 жніўня 2024", "2024-08-05T00:00:00Z", false}, {"5 ديسمبر 2024", "2024-12-05T00:00:00Z", false},
		{"5 ianuarie 2024", "2024-01-05T00:00:00Z", false}, {"tirsdag 5. desember 2024", "2024-12-05T00:00:00Z", false}, {"5 Agustus 2024", "2024-08-05T00:00:00Z", false},
		{"1 Jan 2024 00:00:00 +0000", "2024-01-01T00:00:00Z", true},
	} {
		got, zoned, ok := when.Parse(c.in)
		if !ok || got.Format(time.RFC3339Nano) != c.want || zoned != c.zoned {
			t.Errorf("Parse(%q) = %v, %v, %v; want %s, %v", c.in, got.Format(time.RFC3339Nano), zoned, ok, c.want, c.zoned)
		}
	}
}

func TestOtherTextIsNotADate(t *testing.T) {
	for _, s := range []string{"", "Invalid Date", "0000-00-00 00:00:00", "30 Feb 2024", "Mon, 32 Jan 2024", "2024-13-01", "1 Jan 0001",
		"1 Jan 9999", "25:00", "12:30:00", "yesterday", "1700000000000", "2024-01-02T25:00:00Z", "15", "15 2024", "-", "10:00:00 10:00:00 2024"} {
		if got, _, ok := when.Parse(s); ok {
			t.Errorf("Parse(%q) = %v", s, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"Mon, 02 Jan 2006 15:04:05 -0700", "2006-01-02T15:04:05Z", "2024年5月17日", "1 Я 1:1 a/b", "ПРЯ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _, ok := when.Parse(s)
		if ok && (got.Year() < 1969 || got.Year() > 2101) {
			t.Errorf("Parse(%q) = %v", s, got)
		}
	})
}

func BenchmarkParseRFC1123(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		when.Parse("Mon, 02 Jan 2006 15:04:05 -0700")
	}
}

func BenchmarkParseRFC3339(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		when.Parse("2006-01-02T15:04:05+03:00")
	}
}
