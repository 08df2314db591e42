"""Medians over the rounds, ratios pair by pair, and the tables."""
import statistics

BASE = "nutcracker"


def cpu_per_request(sample):
    """CPU microseconds of the measured process for one request."""
    return sample["watched_cpu_seconds"] * 1e6 / sample["requests"]


def switches_per_request(sample):
    switches = sample["watched_voluntary_switches"] + sample["watched_involuntary_switches"]
    return switches / sample["requests"]


FIGURES = {
    "rps": lambda s: s["rps"],
    "p50_usec": lambda s: s["p50_usec"],
    "p99_usec": lambda s: s["p99_usec"],
    "cpu_usec_per_request": cpu_per_request,
    "core_busy": lambda s: s["watched_cpu_seconds"] / s["seconds"],
    "switches_per_request": switches_per_request,
}


def ratio(samples, base, figure):
    """Median over the rounds of (target / base) of the same round: both halves of a pair met the same
    machine within seconds, so what drifts from round to round cancels."""
    pairs = [figure(a) / figure(b) for a, b in zip(samples, base) if a and b and figure(b)]
    return statistics.median(pairs) if pairs else None


def summarise(samples):
    """{scenario: {target: [sample of each round, None where it failed]}} -> the same with medians."""
    summary = {}
    for scenario, targets in samples.items():
        summary[scenario] = {}
        for target, rounds in targets.items():
            good = [s for s in rounds if s]
            if not good:
                continue
            row = {name: statistics.median(map(figure, good)) for name, figure in FIGURES.items()}
            row["rounds"] = len(good)
            row["faults"] = sum(s["errors"] + s["disconnects"] + s["wrong"] for s in good)
            if BASE in targets:
                for name in ("cpu_usec_per_request", "rps", "p99_usec"):
                    row[f"{name}_ratio"] = ratio(rounds, targets[BASE], FIGURES[name])
            summary[scenario][target] = row
        if not summary[scenario]:
            del summary[scenario]
    return summary


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def print_table(summary):
    print(f"\n{'scenario':<12} {'target':<11} {'requests/s':>11} {'p50 us':>9} {'p99 us':>9} {'CPU us/req':>10} "
          f"{'core':>5} {'switch/req':>10} | {'of ' + BASE + ':':<14} {'CPU':>6} {'req/s':>6} {'p99':>6}")
    for scenario, targets in summary.items():
        for target, row in targets.items():
            print(f"{scenario:<12} {target:<11} {row['rps']:>11.0f} {row['p50_usec']:>9.0f} {row['p99_usec']:>9.0f} "
                  f"{row['cpu_usec_per_request']:>10.2f} {row['core_busy'] * 100:>4.0f}% "
                  f"{row['switches_per_request']:>10.3f} | {'':<14} "
                  f"{number(row.get('cpu_usec_per_request_ratio')):>6} {number(row.get('rps_ratio')):>6} "
                  f"{number(row.get('p99_usec_ratio')):>6}"
                  + (f"  FAULTS {row['faults']}" if row["faults"] else ""))
        print()


def print_counts(title, counts):
    """{scenario: {target: {what: per request}}}"""
    print(f"\n{title}")
    for scenario, targets in counts.items():
        for target, row in targets.items():
            if row is None:
                continue
            parts = "  ".join(f"{name} {value:.3f}" if value < 100 else f"{name} {value:.0f}"
                              for name, value in row.items())
            print(f"{scenario:<12} {target:<11} {parts}")
