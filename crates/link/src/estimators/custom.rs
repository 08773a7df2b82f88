//! Estimators that other crates define.

use crate::{Estimator, PhyTimes};
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// Definition of an estimator outside this crate.
pub trait DefineEstimator: Send + Sync {
    /// Text that identifies the estimator with its options. Equal texts mean equal estimates.
    fn identity(&self) -> &str;
    /// Creates the estimator for a node with this PHY.
    fn build(&self, phy: PhyTimes) -> Box<dyn Estimator>;
}

/// Estimator that another crate defines. Compared and serialised by its identity.
#[derive(Clone)]
pub struct CustomEstimator(Arc<dyn DefineEstimator>);

impl CustomEstimator {
    /// The estimator of this definition.
    pub fn new(definition: impl DefineEstimator + 'static) -> CustomEstimator {
        CustomEstimator(Arc::new(definition))
    }

    /// Creates the estimator for a node with this PHY.
    pub fn build(&self, phy: PhyTimes) -> Box<dyn Estimator> {
        self.0.build(phy)
    }
}

impl fmt::Debug for CustomEstimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.identity())
    }
}

impl PartialEq for CustomEstimator {
    fn eq(&self, other: &CustomEstimator) -> bool {
        self.0.identity() == other.0.identity()
    }
}

impl Serialize for CustomEstimator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.identity())
    }
}
