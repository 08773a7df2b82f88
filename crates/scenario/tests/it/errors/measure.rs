//! `[[measure]]`.

/// Valid scenario with estimators.
pub const OBSERVED: &str = r#"duration = "10 s"
record_interval = "1 s"
[topology]
generator = "chain"
hops = 2
[traffic]
pattern = "canonical"
scheme = "udp"
[[measure]]
estimator = "rt-winf"
at = ["n0", "n2"]
reading = "strict"
window = "1 s"
full_busy = true
reference_size = "1500 B"
smoothing = 0.125
[[measure]]
estimator = "adhoc-probe"
name = "probe"
flow = "n0->n2"
pairs = 200
[[measure]]
estimator = "packet-throughput"
interval = "200 ms"
normalise_over = 100
"#;

/// Changes that break the scenario, with their messages.
pub const BROKEN_OBSERVED: &str = r#"
estimator = "rt-winf" => estimator = "rt-winff" -> measure[0].estimator: did you mean "rt-winf"? | fte
estimator = "rt-winf" => estimator = 5 -> measure[0].estimator: integer | idlegap
at = ["n0", "n2"] => at = [] -> measure[0].at: [] is an empty list | remove the key
at = ["n0", "n2"] => at = ["n0", "n9"] -> measure[0].at[1]: "n9" is not a node | n0, n1, n2
at = ["n0", "n2"] => at = ["n0", "n0"] -> measure[0].at[1]: "n0" is listed twice
at = ["n0", "n2"] => at = "n0" -> measure[0].at: "n0" | a list
reading = "strict" => reading = "literal" -> measure[0].reading: "literal" | printed, strict
window = "1 s" => window = "0 s" -> measure[0].window: "0 s" is out of range | from 1 ms
window = "1 s" => window = "2 min" -> measure[0].window: "2 min" is out of range | 1 min
window = "1 s" => window = 1 -> measure[0].window: 1 | "off"
reading = "strict" => reading = "whole" @ full_busy -> measure[0].full_busy: true has no effect with reading = "whole" | remove it, or set reading = "printed" or "strict"
estimator = "packet-throughput"\ninterval = "200 ms"\nnormalise_over = 100 => estimator = "rt-winf-probe"\nreading = "strict" @ interval = "200 -> measure[2].reading: "strict" is not a reading of rt-winf-probe | printed | whole
full_busy = true => full_bussy = true -> measure[0].full_bussy: unknown key | did you mean "full_busy"?
reference_size = "1500 B" => reference_size = "0 B" -> measure[0].reference_size: "0 B" | 1 B
smoothing = 0.125 => smoothing = 0 -> measure[0].smoothing: 0 is out of range | above 0
smoothing = 0.125 => pairs = 3 -> measure[0].pairs: unknown key | total_per_exchange
name = "probe" => name = "rt-winf" -> measure[1].name: "rt-winf" is already the name of measure[0] | another
name = "probe" => name = " " -> measure[1].name: empty name
flow = "n0->n2" => flow = "n0->n1" -> measure[1].flow: "n0->n1" is not a flow | n0->n2
pairs = 200 => pairs = 0 -> measure[1].pairs: 0 is out of range | 1 to 10000
interval = "200 ms" => interval = "1 us" -> measure[2].interval: "1 us" | 1 ms
estimator = "packet-throughput"\ninterval = "200 ms"\nnormalise_over = 100 => estimator = "python"\nclass = "own.py:Own" @ estimator = "packet -> measure[2].estimator: "python" needs Python | the Python package
normalise_over = 100 => normalise_over = -1 -> measure[2].normalise_over: -1 | whole number
record_interval = "1 s" => record_interval = "10 us" @ [[measure]] -> measure: 8 estimators make 8000000 rows | fewer nodes
"#;
