//! Tables of keys: a row is a key with its type, its range, its default and its meaning.
//!
//! The JSON Schema of a table has all of it, and the check of what is given reads the schema: nothing is
//! written twice.

mod defaults;
mod rule;

pub use defaults::{OTHERWISE, default_if, state_default, usually, usually_by};
pub use rule::{Rule, Rules, schema_of, schema_with_references};

use schemars::Schema;
use schemars::transform::Transform;
use serde_json::Value;

/// A table of a scenario, such as the parameters of a scheme: each row is a key with its type, its range, its
/// default and its meaning.
///
/// ```
/// use multihop_config::quantity::Duration;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// multihop_config::keys! {
///     /// What a pacer has.
///     #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
///     pub struct Pacing {
///         /// Packets that leave at once.
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
/// A default that is left out is that of the type; bounds of quantities are written as in a file. A table
/// `with required keys` has no default as a whole: a row that may be left out says `#[serde(default)]`. An
/// `Option` of which it matters whether it is given has its default from [`usually`], [`usually_by`] or
/// [`default_if`], with the constant that takes its place.
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

/// The range of a key: `[least, most]`, `[above least, most]`, `[least, below most]`, `[least]` alone, or
/// none.
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

/// The range of a key, which puts itself into its schema: as `minimum` and `maximum` of numbers, and for
/// quantities, of which JSON Schema has none, as `x-minimum` and `x-maximum`.
#[derive(Clone, Debug)]
pub struct Bounds {
    least: (&'static str, Value),
    most: Option<(&'static str, Value)>,
}

impl Bounds {
    /// From the one to the other, both included.
    pub fn of(least: impl Into<Value>, most: impl Into<Value>) -> Bounds {
        let most = most.into();
        let high = if most.is_string() { "x-maximum" } else { "maximum" };
        Bounds { most: Some((high, most)), ..Bounds::from(least) }
    }

    /// From this on; there is no other end.
    pub fn from(least: impl Into<Value>) -> Bounds {
        let least = least.into();
        let low = if least.is_string() { "x-minimum" } else { "minimum" };
        Bounds { least: (low, least), most: None }
    }

    /// From the one on, below the other.
    pub fn below(least: impl Into<Value>, most: impl Into<Value>) -> Bounds {
        Bounds { least: ("minimum", least.into()), most: Some(("exclusiveMaximum", most.into())) }
    }

    /// Above the one, up to the other.
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
