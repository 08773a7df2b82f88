//! Schemes of the five papers as published: presets of the schemes that they became here.
//!
//! A preset has what its paper prints, on the TCP of ns-2, on which all of them were simulated. Where an
//! equation cannot be meant as printed, the preset has the reading that adds least; the pages of the schemes
//! list these.

/// Name, summary and parameters of a preset.
pub(crate) struct Preset {
    /// Name of the preset in scenarios.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Parameters that differ from the scheme's defaults, as a JSON object.
    pub parameters: &'static str,
}

/// Li et al. 2003: Figure 17, with the equations of its model as printed.
pub(crate) const RE_TFRC: Preset = Preset {
    name: "re-tfrc-published",
    summary: "RE TFRC as in Li et al. 2003: the receive rate scaled to the round-trip time of saturation",
    parameters: r#"{
        "flavour": "ns2", "ceiling": "round-trip", "current_rtt": "smoothed", "exchange": "packet",
        "growing_windows": false, "success": "linear", "timeout": "round-trips"
    }"#,
};

/// He et al. 2017: the threshold of their evaluation.
pub(crate) const RECN: Preset = Preset {
    name: "recn-published",
    summary: "RECN as in He et al. 2017: threshold 0.6, with DIFS and backoff as contention",
    parameters: r#"{ "flavour": "ns2", "threshold": 0.6, "access": "contention" }"#,
};

/// Barreto 2015, section 4.1.
pub(crate) const XCP_WINF: Preset = Preset {
    name: "xcp-winf-published",
    summary: "XCP-Winf as in Barreto 2015: rt-Winf as printed, XCP's gains, no account of self-interference",
    parameters: r#"{
        "flavour": "ns2", "reading": "printed", "estimate_over": "1 h", "capacity_smoothing": 1.0,
        "reference_size": "0 B", "ack_report": true, "self_interference": false, "await_estimate": false,
        "shuffled": "used", "throughput": "printed", "queue_allowed": 0, "alpha": 0.4
    }"#,
};

/// Barreto 2015, section 4.2.
pub(crate) const RCP_WINF: Preset = Preset {
    name: "rcp-winf-published",
    summary: "RCP-Winf as in Barreto 2015: rt-Winf as printed, windows by Eq. 26, no account of self-interference",
    parameters: r#"{
        "flavour": "ns2", "reading": "printed", "estimate_over": "1 h", "capacity_smoothing": 1.0,
        "reference_size": "0 B", "ack_report": true, "self_interference": false, "await_estimate": false,
        "input": "arrivals", "pacing": "payload", "window_limit": "paced"
    }"#,
};

/// Tan, Jiang, Zhang and Shen 2007. The paper gives no psi; that of the default follows from its Table 1.
pub(crate) const EWCCP: Preset = Preset {
    name: "ewccp-published",
    summary: "EWCCP as in Tan et al. 2007: windows by Eq. 8, never below a segment, no repairs by the MAC",
    parameters: r#"{
        "flavour": "ns2", "law": "windows", "least_window": 1.0, "local_repairs": 0
    }"#,
};

/// Qazi, Andrew and Znati 2009, with the estimate of Qazi, Znati and Mosse, section V. Additive increase
/// and cut, which the public texts do not give, are those of VCP, its ancestor.
pub(crate) const BMCC: Preset = Preset {
    name: "bmcc-published",
    summary: "BMCC as in Qazi, Znati and Mosse: whole segments, VCP's increase and cut, marks on data alone",
    parameters: r#"{
        "flavour": "ns2", "alpha": 1.0, "addition_limit": "none", "backoff_slope": 0.0, "carry_fractions": false,
        "mark_acks": false, "successful_only": true
    }"#,
};
