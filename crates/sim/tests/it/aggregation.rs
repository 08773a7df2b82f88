//! Aggregation over a medium: the law of block acknowledgements, and saturation against the closed form.

use crate::common::{add_flow, network, saturate};
use multihop_core::{Delivered, NodeId, Rng, Segment, Span, Time};
use multihop_dot11::{DcfRules, Phy, Preamble, Standard};
use multihop_link::{Discipline, FqCodelOptions, StationsOptions};
use multihop_schemes::Scheme;
use multihop_sim::config::{AggregationConfig, AppConfig, Config, MediumModel, SchemeConfig};
use multihop_sim::run;
use multihop_transport::{Endpoint, Progress, UdpOptions, UdpReceiver, UdpSender};
use std::sync::Arc;

const LIMITS: AggregationConfig = AggregationConfig {
    mpdus: 64,
    window: 64,
    a_mpdu: 65_535,
    a_msdu: None,
    mpdu: 4_095,
    max_duration: Span::from_us(5_484),
    spacing: Span::ZERO,
    reordering_timeout: Span::from_ms(100),
    rts: false,
    single_delimited: false,
};
