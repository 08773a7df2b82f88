//! `[phy]`: the physical layer.

use crate::document::{Document, KeyPath, Result, key};
use crate::error::list;
use crate::radios::AdjacentChannels;
use multihop_core::Rate;
use multihop_dot11::{self as dot11, OfdmSymbols, Preamble, Standard};
use multihop_schemes::quantity::{BitRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The physical layer.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Phy {
    /// The standard, which sets rates, slot, SIFS and contention windows.
    pub standard: Standard,
    /// Preamble of 802.11b frames (of 802.11g, for those at 802.11b rates).
    pub preamble: Preamble,
    /// What follows the preamble of OFDM frames. Default "whole".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ofdm_symbols: Option<OfdmSymbols>,
    /// Rate of unicast DATA frames, where no link has one of its own. Default: the highest of the standard.
    pub data_rate: Option<BitRate>,
    /// Rate of RTS, CTS, ACK and broadcasts. Default: the standard's rule, the highest basic rate not above the data rate.
    pub control_rate: Option<BitRate>,
    /// Rate of ACKs, where it differs from that of the other control frames. Default: `control_rate`, or the standard's rule.
    pub ack_rate: Option<BitRate>,
    /// Slot time, if not the standard's.
    pub slot: Option<Duration>,
    /// Short inter-frame space, if not the standard's.
    pub sifs: Option<Duration>,
    /// First contention window in slots, if not the standard's.
    #[schemars(range(min = 1, max = 65535))]
    pub cw_min: Option<u32>,
    /// Largest contention window in slots, if not the standard's.
    #[schemars(range(min = 1, max = 65535))]
    pub cw_max: Option<u32>,
    /// Number of the channel of nodes that name none in `[topology]`. Default: 1 at 2.4 GHz, 34 at 5 GHz.
    #[schemars(range(min = 1, max = 196))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u16>,
    /// What transmissions on channels that overlap in part are to each other. Default: noise, in proportion to the width that they
    /// share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjacent_channels: Option<AdjacentChannels>,
}

/// Rates of frames, as the engine wants them.
pub(super) struct Rates {
    /// Of unicast DATA.
    pub(super) data: Rate,
    /// Of control frames, if not by the standard's rule.
    pub(super) control: Option<Rate>,
    /// Of ACKs, if they differ.
    pub(super) ack: Option<Rate>,
}

impl Phy {
    /// The PHY and the rates.
    pub(super) fn resolve(&self, document: &Document<'_>) -> Result<(dot11::Phy, Rates)> {
        if self.preamble == Preamble::Short
            && matches!(self.standard, Standard::Fhss | Standard::Dsss | Standard::Dot11a)
        {
            return Err(document.bad(
                &key!["phy", "preamble"],
                "does not exist in this standard",
                "short preambles belong to 802.11b and 802.11g; use \"long\" or remove the key",
            ));
        }
        let mut phy = dot11::Phy::new(self.standard, self.preamble);
        if let Some(symbols) = self.ofdm_symbols {
            if !phy.rates().any(|(_, modulation)| modulation.is_ofdm()) {
                return Err(document.bad(
                    &key!["phy", "ofdm_symbols"],
                    "has no effect in this standard",
                    "OFDM belongs to 802.11a and 802.11g; remove the key",
                ));
            }
            phy = phy.with_ofdm_symbols(symbols);
        }
        let inter_frame = |key, value: Option<Duration>, default| match value {
            None => Ok(default),
            Some(time) => document.between(&key!["phy", key], time, "100 ns", "10 ms").map(Duration::span),
        };
        phy.slot = inter_frame("slot", self.slot, phy.slot)?;
        phy.sifs = inter_frame("sifs", self.sifs, phy.sifs)?;
        let window = |key, value: Option<u32>, default| match value {
            None => Ok(default),
            Some(slots) => document.count(&key!["phy", key], slots, 1, 65_535),
        };
        phy.cw_min = window("cw_min", self.cw_min, phy.cw_min)?;
        phy.cw_max = window("cw_max", self.cw_max, phy.cw_max)?;
        if phy.cw_min > phy.cw_max {
            let key = if self.cw_min.is_some() { "cw_min" } else { "cw_max" };
            let found = format!("cw_min {} is above cw_max {}", phy.cw_min, phy.cw_max);
            return Err(document.fail(
                &key!["phy", key],
                found,
                "the window grows from cw_min to cw_max; change one of them",
            ));
        }
        let highest = phy.rates().last().map(|(rate, _)| rate).expect("every PHY has rates");
        let rates = Rates {
            data: Phy::rate(document, &phy, "data_rate", self.data_rate)?.unwrap_or(highest),
            control: Phy::rate(document, &phy, "control_rate", self.control_rate)?,
            ack: Phy::rate(document, &phy, "ack_rate", self.ack_rate)?,
        };
        Ok((phy, rates))
    }

    fn rate(
        document: &Document<'_>,
        phy: &dot11::Phy,
        key: &str,
        value: Option<BitRate>,
    ) -> Result<Option<Rate>> {
        value.map(|value| rate_of(document, &key!["phy", key], phy, value)).transpose()
    }
}

/// The rate that the value at `path` gives, if the PHY has it.
pub(super) fn rate_of(
    document: &Document<'_>,
    path: &KeyPath,
    phy: &dot11::Phy,
    value: BitRate,
) -> Result<Rate> {
    let rates: Vec<BitRate> = phy.rates().map(|(rate, _)| BitRate(rate.bps() as f64)).collect();
    if rates.contains(&value) {
        return Ok(value.rate());
    }
    let name = serde_json::to_string(&phy.standard()).expect("a standard is a text");
    Err(document.bad(path, format!("is not a rate of {name}"), format!("its rates: {}", list(&rates))))
}
