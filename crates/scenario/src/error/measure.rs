//! Problems with `[medium]` and `[[measure]]`.

use super::problems;
use multihop_config::quantity::Length;

problems! {
    /// Problem with the medium.
    MediumProblem:

    SensesTooLittle { senses: Length, receives: Length } =>
        "carrier_sense_range {senses} is below receive_range {receives}";
        "make it at least as large: decodable frames are also sensed";
    NoBlock =>
        "has neither speed nor coherence";
        "add coherence, the length of a block, or speed";
    ErrorsOfWire { between: [String; 2] } =>
        "{:?} and {:?} are joined by a wire, to which these errors do not apply", between[0], between[1];
        "remove the entry, and set the loss of the wire instead";
    SecondErrors { between: [String; 2], first: usize } =>
        "medium.errors[{first}] already has {:?} and {:?}", between[0], between[1];
        "keep one of the two; packet_error_rate_back is the other direction";
}

problems! {
    /// Problem with estimators.
    MeasureProblem:

    NoEstimators =>
        "no [[measure]] table";
        "list estimators, such as [[measure]] with estimator = \"rt-winf\"";
    NotOfCapture =>
        "VALUE cannot be used on a capture";
        "remove it: it needs the sending times of probes, which a capture does not hold";
    NoPython =>
        "VALUE needs Python";
        "use an estimator of the list, or the Python package";
    NoStrictReading =>
        "VALUE is not a reading of rt-winf-probe";
        "use \"printed\", which is the same here, or \"whole\"";
}
