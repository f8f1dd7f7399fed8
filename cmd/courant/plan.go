package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/search/plan"
)

// planning is the question to the planner, with the flags that it is made of.
type planning struct {
	plan.Question
	curve             string
	fixed             fraction
	query             time.Duration
	policies, seconds bool
}

func (f *flags) plan() *cobra.Command {
	p := planning{Question: plan.Question{Load: 0.6, Peak: 0.9, Lost: 1, Clicks: 0.01}, fixed: 0.1}
	c := &cobra.Command{
		Use: "plan", Short: "Calculate how many search servers can be removed",
		Long: "Plan simulates a search in virtual time, with the code that serves queries, while zones are down. It tells how many servers can be\n" +
			"removed if no query may fail and no more than a given share of clicks may be lost while the zones are down.",
		Example: "  courant plan --zones 3 --shards 8 --servers 48 --load 60% --lost 1 --clicks 1%\n" +
			"  courant plan --policies --load 82%\n" +
			"  courant plan --seconds --load 82% --json",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := f.answerPlan(cmd.Context(), &p)
			if errors.Is(err, courant.Invalid) {
				return usageError{err}
			}
			return err
		},
	}
	w, o := &p.World, c.Flags()
	o.IntVar(&w.Zones, "zones", 3, "zones, such as data centres")
	o.IntVar(&w.Shards, "shards", 8, "shards of the index; each query asks all of them")
	o.IntVar(&p.Servers, "servers", 24, "servers in all zones together")
	o.IntVar(&w.Cores, "cores", 8, "CPU cores per server")
	o.Var((*fraction)(&p.Load), "load", "CPU load of the servers at the daily peak, such as 60% or 0.6")
	o.Var((*fraction)(&p.Peak), "peak", "highest load that the remaining servers may have in normal times; the rest is for growth")
	o.IntVar(&p.Lost, "lost", 1, "zones that may be down at once")
	o.Var((*fraction)(&p.Clicks), "clicks", "share of clicks that may be lost while zones are down")
	o.StringVar(&p.curve, "curve", "", `file with the share of clicks lost by ranking less, [{"share":0.5,"lost":0.0005},…]`)
	o.DurationVar(&p.query, "query", 20*time.Millisecond, "CPU time that a query takes on one shard")
	o.Var(&p.fixed, "fixed", "share of the CPU time of a query that ranking less does not save")
	o.DurationVar(&w.Deadline, "deadline", 500*time.Millisecond, "deadline of a query")
	o.Uint64Var(&w.Seed, "seed", 0, "random seed")
	o.BoolVar(&p.policies, "policies", false, "compare degradation policies during the loss instead")
	o.BoolVar(&p.policies, "laws", false, "")
	cobra.CheckErr(o.MarkDeprecated("laws", "it is now called --policies")) // hides it, and says so when it is used
	o.BoolVar(&p.seconds, "seconds", false, "show the loss second by second instead")
	return c
}

// answerPlan checks what was asked for and answers it.
func (f *flags) answerPlan(ctx context.Context, p *planning) error {
	if err := p.complete(); err != nil {
		return err
	}
	show := &steps{quiet: f.json}
	defer show.clear()
	switch {
	case p.policies:
		return f.planPolicies(ctx, p, show)
	case p.seconds:
		return f.planSeconds(ctx, p, show)
	}
	a, err := p.Answer(ctx, func(tried, of int) { show.line("simulated %d of about %d sizes", tried, of) })
	show.clear()
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(os.Stdout, a)
	}
	rows := [][]string{{"servers", "load", "zone lost", "share", "clicks lost", "errors", "p99 ms", "p99 ms, zone lost", "enough"}}
	for _, s := range a.Sizes {
		rows = append(rows, []string{strconv.Itoa(s.Servers), plan.Percent(s.Load), plan.Percent(s.Outage), plan.Percent(s.Share), plan.Percent(s.Clicks),
			strconv.Itoa(s.Errors), fmt.Sprintf("%.0f", s.Normal), fmt.Sprintf("%.0f", s.P99), cmp.Or(s.Why, "yes")})
	}
	if err := f.table(rows); err != nil {
		return err
	}
	fmt.Println("\n" + a.Sentence)
	return nil
}

// complete reads the curve and combines flags into the question.
func (p *planning) complete() error {
	if p.fixed < 0 || p.fixed >= 1 {
		return courant.Errorf(courant.Invalid, "--fixed must be at least 0 %% and less than 100 %%, not %g %%", 100*float64(p.fixed))
	}
	if p.policies && p.seconds {
		return courant.Errorf(courant.Invalid, "--policies and --seconds cannot be used together")
	}
	if zero := p.zero(); zero != "" {
		return courant.Errorf(courant.Invalid, "--%s must be at least 1", zero)
	}
	p.World.Fixed = time.Duration(float64(p.fixed) * float64(p.query))
	p.World.Ranked = p.query - p.World.Fixed
	if p.query <= 0 || p.World.Deadline <= 0 {
		return courant.Errorf(courant.Invalid, "--query and --deadline must be greater than 0")
	}
	if p.curve != "" {
		text, err := os.ReadFile(p.curve)
		if err != nil {
			return courant.Errorf(courant.Invalid, "--curve: %w", err)
		}
		if p.World.Curve, err = plan.ReadCurve(text); err != nil {
			return fmt.Errorf("--curve: %s: %w", p.curve, err)
		}
	}
	return p.Check()
}

// zero names a flag that is 0, for which the world would silently use its default.
func (p *planning) zero() string {
	switch 0 {
	case p.World.Zones:
		return "zones"
	case p.World.Shards:
		return "shards"
	case p.World.Cores:
		return "cores"
	}
	return ""
}

// drill is the simulated loss: one minute before it, three during it, one after.
func (p *planning) drill() plan.Drill {
	d := plan.Drill{World: p.World, Lost: p.Lost, Normal: time.Minute, Outage: 3 * time.Minute, After: time.Minute}
	d.Shards, d.Load = min(d.Shards, 2), plan.Steady(p.Load)
	return d
}

func (f *flags) planPolicies(ctx context.Context, p *planning, show *steps) error {
	rows := [][]string{{"policy", "queries", "errors", "errors in first 10 s", "p99 ms", "p99 ms normal", "share", "sd of share"}}
	ways := plan.Ways()
	for i, way := range ways {
		show.line("simulated %d of %d policies", i, len(ways))
		o, err := p.drill().Play(ctx, way, nil)
		if err != nil {
			return err
		}
		if f.json {
			if err := writeJSON(os.Stdout, o); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{o.Name, strconv.Itoa(o.Outage.Queries), strconv.Itoa(o.Outage.Errors), strconv.Itoa(o.First.Errors),
			inMS(o.Outage.P99), inMS(o.Normal.P99), plan.Percent(o.Steady.Share), fmt.Sprintf("%.3f", o.Steady.Sway)})
	}
	show.clear()
	if f.json {
		return nil
	}
	return f.table(rows)
}

func (f *flags) planSeconds(ctx context.Context, p *planning, show *steps) error {
	d := p.drill()
	whole := d.Normal + d.Outage + d.After
	o, err := d.Play(ctx, plan.Way{}, func(s plan.Second) { show.line("simulated %v of %v", s.At, whole) })
	show.clear()
	if err != nil {
		return err
	}
	rows := [][]string{{"second", "load", "share", "policy share", "queries", "errors", "p50 ms", "p99 ms", "in flight by zone"}}
	for _, s := range o.Film.Seconds {
		if f.json {
			if err := writeJSON(os.Stdout, s); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{fmt.Sprintf("%.0f", s.At.Seconds()), plan.Percent(s.Load), plan.Percent(s.Share), plan.Percent(s.Policy), strconv.Itoa(s.Queries),
			strconv.Itoa(s.Errors), inMS(s.P50), inMS(s.P99), strings.Trim(fmt.Sprint(s.InFlight), "[]")})
	}
	if f.json {
		return nil
	}
	return f.table(rows)
}

func inMS(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()*1000) }

// fraction is a flag such as 60% or 0.6.
type fraction float64

func (p *fraction) String() string { return fmt.Sprintf("%g%%", 100*float64(*p)) }

// Type is what the help calls it.
func (p *fraction) Type() string { return "share" }

// Set reads it. A number above 2 without a sign is probably meant in percent; it is an
// error rather than guessed.
func (p *fraction) Set(text string) error {
	number, hundredths := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || x != x:
		return fmt.Errorf("write 60%% or 0.6")
	case hundredths:
		x /= 100
	case x > 2:
		return fmt.Errorf("write %s%% or %g", number, x/100)
	}
	*p = fraction(x)
	return nil
}

// steps is a line on a terminal that shows the progress of a long run.
type steps struct {
	quiet, shown bool
}

func (s *steps) line(format string, values ...any) {
	if s.quiet || !isTerminal(os.Stderr) {
		return
	}
	s.shown = true
	fmt.Fprintf(os.Stderr, "\r\033[K"+format, values...)
}

func (s *steps) clear() {
	if s.shown {
		fmt.Fprint(os.Stderr, "\r\033[K")
		s.shown = false
	}
}
