//! The scheme `python`: a TCP connection with a congestion controller written in Python.

use super::callbacks::{Callbacks, Method};
use super::classes::{Arguments, ClassName};
use super::endpoint::PythonSender;
use super::header;
use super::header::LatestHeader;
use multihop_config::keys;
use multihop_core::NodeId;
use multihop_link::{EgressQueue, RouterPolicy};
use multihop_schemes::tcp::HostTcp;
use multihop_schemes::{ParameterError, Parameters, Scheme, SenderStation, TcpParts};
use multihop_transport::{CongestionHeader, Endpoint, Recovery, TcpOptions, TcpReceiver, TcpSender};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loss recovery of the connection.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryFrom {
    /// Selective acknowledgements.
    #[default]
    Sack,
    /// Duplicate acknowledgements (RFC 6582); with `flavour` "linux" as well, by time.
    NewReno,
}

keys! {
    /// A TCP connection whose congestion controller is a Python class, a subclass of `multihop.Controller`.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct PythonScheme {
        /// Class of the controller: "file.py:Class", relative to the scenario's folder, or
        /// "package.module:Class".
        pub class: ClassName,
        /// Keyword arguments of the class.
        pub arguments: Arguments,
        /// Loss recovery: "sack", from selective acknowledgements, or "newreno" (RFC 6582).
        pub recovery: RecoveryFrom,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: HostTcp,
    }
}

impl Parameters for PythonScheme {
    const NAME: &str = "python";
    const SUMMARY: &str = "TCP whose congestion controller is a Python class of yours";
    const REFERENCE: &str = "a subclass of multihop.Controller";

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()?;
        self.class.load(&self.arguments)
    }
}

impl PythonScheme {
    fn options(&self) -> TcpOptions {
        let mut options = self.tcp.options(match self.recovery {
            RecoveryFrom::Sack => Recovery::Sack,
            RecoveryFrom::NewReno => Recovery::NewReno,
        });
        if let Some(class) = self.class.loaded() {
            options.delivery_rate |= class.defines(Method::Delivered);
            options.congestion_header = CongestionHeader::of(header::on_air(class.header()));
        }
        options
    }
}

impl Scheme for PythonScheme {
    fn sender(&self) -> Box<dyn Endpoint> {
        Box::new(TcpSender::new(self.options(), Box::new(Callbacks::none(self.segment_size()))))
    }

    fn sender_at(&self, station: &SenderStation) -> Box<dyn Endpoint> {
        let Some(loaded) = self.class.loaded() else { return self.sender() };
        let options = self.options();
        match loaded.controller(station, options.segment_size, &self.arguments) {
            Some(controller) => Box::new(PythonSender::new(options, controller, loaded.estimators(station))),
            None => self.sender(),
        }
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        let has_header = self.class.loaded().is_some_and(|class| class.header() > 0);
        Box::new(if has_header {
            TcpReceiver::with_echo(self.options(), Box::new(LatestHeader::default()))
        } else {
            TcpReceiver::new(self.options())
        })
    }

    fn router(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let router = self.class.loaded()?.router(node, egress)?;
        Some(Box::new(router))
    }

    fn segment_size(&self) -> u32 {
        self.tcp.segment_size()
    }

    fn tcp(&self) -> Option<TcpParts> {
        let controller = Box::new(Callbacks::none(self.segment_size()));
        Some(TcpParts { options: self.options(), controller, echo: None })
    }

    fn is_aggregate_aware(&self) -> bool {
        self.options().receive_offload
    }
}
