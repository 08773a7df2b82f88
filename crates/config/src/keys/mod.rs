//! Tables of keys. A row is a key with its type, range, default and meaning.
//!
//! The JSON Schema of a table follows from its rows, and the check of given values reads the schema. Each
//! fact therefore stands in one place.

mod defaults;
mod rule;

pub use defaults::{OTHERWISE, default_if, state_default, usually, usually_by};
pub use rule::{Rule, Rules, schema_of, schema_with_references};

use schemars::Schema;
use schemars::transform::Transform;
use serde_json::Value;

/// Defines a table of a scenario, such as the parameters of a scheme. Each row is a key with its type, range,
/// default and meaning.
///
/// ```
/// use multihop_config::quantity::Duration;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// multihop_config::keys! {
///     /// Parameters of a pacer.
///     #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
///     pub struct Pacing {
///         /// Packets in a burst.
///         pub burst: u32 [1, 1000] = 2,
///         /// Weight of a new sample.
///         pub weight: f64 [above 0, 1] = 0.125,
///         /// Time between bursts. Default: none.
///         pub interval: Option<Duration> ["1 us", "1 min"],
///     }
/// }
/// assert_eq!(Pacing::default(), Pacing { burst: 2, weight: 0.125, interval: None });
/// ```
///
/// - A row without a default has the default of its type.
/// - Bounds of quantities are written as in a file.
/// - A table `with required keys` has no default as a whole. Its optional rows say `#[serde(default)]`.
/// - An `Option` whose absence matters states its default with [`usually`], [`usually_by`] or [`default_if`].
#[macro_export]
macro_rules! keys {
    (
        $(#[$doc:meta])*
        pub struct $name:ident {
            $( $(#[$about:meta])* pub $key:ident: $type:ty $([$($range:tt)*])? $(= $default:expr)?, )*
        }
    ) => {
        $(#[$doc])*
        #[serde(default)]
        pub struct $name {
            $(
                $(#[$about])*
                $(#[schemars(transform = $crate::bounds!($($range)*))])?
                pub $key: $type,
            )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($key: $crate::keys!(@default $($default)?),)* }
            }
        }
    };
    (
        $(#[$doc:meta])*
        pub struct $name:ident with required keys {
            $( $(#[$about:meta])* pub $key:ident: $type:ty $([$($range:tt)*])?, )*
        }
    ) => {
        $(#[$doc])*
        pub struct $name {
            $(
                $(#[$about])*
                $(#[schemars(transform = $crate::bounds!($($range)*))])?
                pub $key: $type,
            )*
        }
    };
    (@default) => {
        Default::default()
    };
    (@default $default:expr) => {
        $default
    };
}

/// Range of a key: `[least, most]`, `[above least, most]`, `[least, below most]`, `[least]`, or empty.
#[macro_export]
macro_rules! bounds {
    (above $least:expr, $most:expr) => {
        $crate::keys::Bounds::above($least, $most)
    };
    ($least:expr, below $most:expr) => {
        $crate::keys::Bounds::below($least, $most)
    };
    ($least:expr, $most:expr) => {
        $crate::keys::Bounds::of($least, $most)
    };
    ($least:expr) => {
        $crate::keys::Bounds::from($least)
    };
    () => {
        |_: &mut schemars::Schema| ()
    };
}

/// Range of a key, as a transform of the key's schema. A number's range becomes `minimum` and `maximum`. A
/// quantity's range becomes `x-minimum` and `x-maximum`, because JSON Schema has no keywords for quantities.
#[derive(Clone, Debug)]
pub struct Bounds {
    least: (&'static str, Value),
    most: Option<(&'static str, Value)>,
}

impl Bounds {
    /// Creates a range with both ends included.
    pub fn of(least: impl Into<Value>, most: impl Into<Value>) -> Bounds {
        let most = most.into();
        let high = if most.is_string() { "x-maximum" } else { "maximum" };
        Bounds { most: Some((high, most)), ..Bounds::from(least) }
    }

    /// Creates a range with a lower end, included, and no upper end.
    pub fn from(least: impl Into<Value>) -> Bounds {
        let least = least.into();
        let low = if least.is_string() { "x-minimum" } else { "minimum" };
        Bounds { least: (low, least), most: None }
    }

    /// Creates a range with the lower end included and the upper end excluded.
    pub fn below(least: impl Into<Value>, most: impl Into<Value>) -> Bounds {
        Bounds { least: ("minimum", least.into()), most: Some(("exclusiveMaximum", most.into())) }
    }

    /// Creates a range with the lower end excluded and the upper end included.
    pub fn above(least: impl Into<Value>, most: impl Into<Value>) -> Bounds {
        Bounds { least: ("exclusiveMinimum", least.into()), most: Some(("maximum", most.into())) }
    }
}

impl Transform for Bounds {
    fn transform(&mut self, schema: &mut Schema) {
        for (keyword, value) in [Some(&self.least), self.most.as_ref()].into_iter().flatten() {
            schema.insert((*keyword).to_owned(), value.clone());
        }
    }
}
