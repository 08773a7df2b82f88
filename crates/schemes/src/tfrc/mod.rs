//! TFRC, and the parameters of all schemes with its transport.

mod airtime_ceiling;
mod capped;
mod rate_estimation;
mod re_tfrc;

pub use capped::TfrcCapped;
pub use rate_estimation::CurrentRtt;
pub use re_tfrc::{Ceiling, ExchangeOf, ReTfrc, Success};

use crate::overrides::{Overrides, Stated};
use crate::overrides::{onto, overrides};
use crate::tcp::Flavour;
use crate::{Parameters, Scheme};
use multihop_core::HeaderFormat;
use multihop_transport::tfrc_parameters;
use multihop_transport::{
    Endpoint, EquationTimeout, RateCeiling, RateChange, Release, ReportTimer, SlowStart, TfrcDataHeader,
    TfrcOptions, TfrcReceiver, TfrcReportHeader, TfrcSender, Unlimited,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

tfrc_parameters! { overrides!
    /// Parameters of a TFRC connection. Parameters that are left out have the default of the `flavour`.
    TfrcParameters by
    /// Source of the defaults of the other parameters: RFC 5348 ("rfc") or ns-2.35 ("ns2"). ns2 also has
    /// quirks without a parameter. It separates loss events by the sending times of packets. An open loss
    /// interval does not count its first packet. With fewer than eight intervals, the oldest counts in both
    /// means. Packets since the last report count in the first interval after the first loss.
    flavour: Flavour;
}
tfrc_parameters! { onto! TfrcParameters, TfrcOptions; }

/// Datagrams at the rate that TCP would have on the same path by the throughput equation, from the loss event
/// rate that the receiver reports. Each packet of the application is a message. Lost packets are not
/// retransmitted.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Tfrc {
    /// TFRC connection.
    #[serde(flatten)]
    pub tfrc: TfrcParameters,
}

/// Headers of every scheme with TFRC's transport.
const HEADERS: &[HeaderFormat] =
    &[HeaderFormat::of::<TfrcDataHeader>(), HeaderFormat::of::<TfrcReportHeader>()];

impl Parameters for Tfrc {
    const NAME: &str = "tfrc";
    const SUMMARY: &str = "datagrams at the rate of TCP's throughput equation";
    const REFERENCE: &str = "RFC 5348; Floyd, Handley, Padhye and Widmer 2000";
    const RELIABLE: bool = false;
    const HEADERS: &[HeaderFormat] = HEADERS;
}

impl Scheme for Tfrc {
    fn sender(&self) -> Box<dyn Endpoint> {
        self.tfrc.sender(Box::new(Unlimited))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        self.tfrc.receiver()
    }

    fn segment_size(&self) -> u32 {
        self.tfrc.segment_size()
    }

    fn is_reliable(&self) -> bool {
        false
    }

    fn tfrc(&self) -> Option<TfrcOptions> {
        Some(self.tfrc.options())
    }
}

impl TfrcParameters {
    /// Returns the options of both ends of a connection with these parameters.
    pub fn options(&self) -> TfrcOptions {
        let mut options = TfrcOptions::of(self.flavour);
        self.apply(&mut options);
        options
    }

    /// Returns each key with the value of `options` as a file would write it.
    pub(crate) fn written(options: &TfrcOptions) -> Vec<Stated> {
        <Self as Overrides<TfrcOptions>>::written(options)
    }

    /// Creates a TFRC sender whose rate `ceiling` may limit.
    pub fn sender(&self, ceiling: Box<dyn RateCeiling>) -> Box<dyn Endpoint> {
        Box::new(TfrcSender::new(self.options(), ceiling))
    }

    /// Creates a TFRC receiver.
    pub fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(TfrcReceiver::new(self.options()))
    }

    /// Returns the payload bytes of a full packet.
    pub fn segment_size(&self) -> u32 {
        self.options().segment_size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_follows_the_flavour_unless_given() {
        let start =
            |slow_start| TfrcParameters { slow_start, ..TfrcParameters::default() }.options().slow_start;
        assert_eq!(start(Some(SlowStart::Doubling)), SlowStart::Doubling);
        assert_eq!(start(Some(SlowStart::Gradual)), SlowStart::Gradual);
        assert_eq!(start(None), SlowStart::Doubling, "RFC 5348, 4.3");
    }
}
