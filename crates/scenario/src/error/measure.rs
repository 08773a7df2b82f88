//! What can be wrong with `[medium]` and `[[measure]]`.

use super::problems;
use multihop_config::quantity::Length;

problems! {
    /// What can be wrong with the medium.
    MediumProblem:

    SensesTooLittle { senses: Length, receives: Length } =>
        "carrier_sense_range {senses} is below receive_range {receives}";
        "what can be decoded is also sensed; make it at least as large";
    NoBlock =>
        "has neither speed nor coherence";
        "say how long a gain stays: add coherence, or speed";
    ErrorsOfWire { between: [String; 2] } =>
        "{:?} and {:?} are joined by a wire, which loses nothing", between[0], between[1];
        "remove the entry, or the wire";
    SecondErrors { between: [String; 2], first: usize } =>
        "medium.errors[{first}] already has {:?} and {:?}", between[0], between[1];
        "keep one of the two; packet_error_rate_back is the other direction";
}

problems! {
    /// What can be wrong with estimators.
    MeasureProblem:

    NoEstimators =>
        "no [[measure]] table";
        "list estimators, such as [[measure]] with estimator = \"rt-winf\"";
    NotOfCapture =>
        "VALUE cannot be used on a capture";
        "remove it: it needs to know when probes were sent, which a capture does not say";
    NoStrictReading =>
        "VALUE is no reading of rt-winf-probe";
        "use \"printed\", which is the same here, or \"whole\"";
}
