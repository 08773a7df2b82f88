//! Requests and their answers.

use crate::{tables, view};
use multihop_core::{Span, Time};
use multihop_frames::{Memory, page};
use multihop_scenario::edit;
use multihop_scenario::{Overrides, Place, ScenarioError};
use multihop_sim::logs::{FrameLog, Selection};
use multihop_sim::{Ties, World};
use serde::Deserialize;
use serde_json::{Value, json};

/// Request from JavaScript.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// JSON Schema of scenarios.
    Schema,
    /// Names that a scenario can use.
    Catalogue,
    /// Name, row and columns of each table of a run.
    Columns,
    /// Reads and resolves a scenario: its nodes, links, flows and paths.
    Check {
        /// Text of the scenario.
        text: String,
        /// Values that override the text.
        #[serde(default)]
        overrides: Overrides,
    },
    /// Values in a scenario, as written in its text.
    Values {
        /// Text of the scenario.
        text: String,
    },
    /// Text with changed values, otherwise unchanged.
    Edit {
        /// Text of the scenario.
        text: String,
        /// Changes, applied in this order.
        edits: Vec<edit::Edit>,
    },
    /// Text with generated nodes, and the flows of a pattern, listed one by one.
    List {
        /// Text of the scenario.
        text: String,
    },
    /// Starts a run, replacing the present one.
    Start {
        /// Text of the scenario.
        text: String,
        /// Values that override the text.
        #[serde(default)]
        overrides: Overrides,
        /// Whether to write a frame log.
        #[serde(default)]
        frames: bool,
    },
    /// Advances the run: the answer has the time reached, and whether the run is over.
    Advance {
        /// Virtual time in seconds to advance to.
        until_s: f64,
    },
    /// Result tables as if the run ended now.
    Tables,
    /// Ends the run and returns its frame log as the viewer reads it; empty if the run has none.
    Frames,
    /// Returns the frame log written so far; empty if its rows take at most `longer_than` bytes. The run
    /// continues.
    FramesSoFar {
        /// Number of bytes that the caller already has.
        longer_than: usize,
    },
}

/// Session with at most one run.
#[derive(Default)]
pub struct Session {
    world: Option<World>,
    frames: Option<Memory>,
}

impl Session {
    /// Answers a request: `{"ok": …}` or `{"error": …}`. An error has a `message`; an error of a scenario
    /// also has `line` or `option`, `key`, `found` and `remedy`. Answers to [`Request::Frames`] and
    /// [`Request::FramesSoFar`] are plain bytes.
    pub fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        let request = serde_json::from_slice(request);
        if matches!(request, Ok(Request::Frames)) {
            // Writing into memory does not fail, and results are not needed.
            let _ = self.world.take().map(World::close);
            return self.frames.take().map_or_else(Vec::new, |memory| page::raw(&memory.log()));
        }
        if let Ok(Request::FramesSoFar { longer_than }) = request {
            let log = self.frames.as_ref().map(Memory::log);
            let log = log.filter(|log| log.tables.bytes() > longer_than);
            return log.map_or_else(Vec::new, |log| page::raw(&log));
        }
        let made = request
            .map_err(|error| json!({ "message": format!("this is no request: {error}") }))
            .and_then(|request| self.handle(request));
        let answer = match made {
            Ok(value) => json!({ "ok": value }),
            Err(error) => json!({ "error": error }),
        };
        answer.to_string().into_bytes()
    }

    fn handle(&mut self, request: Request) -> Result<Value, Value> {
        match request {
            Request::Schema => Ok(multihop_scenario::json_schema()),
            Request::Catalogue => Ok(multihop_scenario::catalogue()),
            Request::Columns => Ok(tables::columns()),
            Request::Check { text, overrides } => {
                let resolved =
                    multihop_scenario::resolve(&text, ORIGIN, &overrides).map_err(|e| error(&e))?;
                Ok(view::view(&resolved))
            }
            Request::Values { text } => edit::values(&text, ORIGIN).map_err(|e| error(&e)),
            Request::Edit { text, edits } => {
                edit::edit(&text, ORIGIN, &edits).map(Value::String).map_err(|e| error(&e))
            }
            Request::List { text } => edit::list(&text, ORIGIN).map(Value::String).map_err(|e| error(&e)),
            Request::Start { text, overrides, frames } => {
                self.world = None;
                self.frames = None;
                let config = multihop_scenario::load(&text, ORIGIN, &overrides).map_err(|e| error(&e))?;
                let mut world = World::new(&config, Ties::InOrder);
                if frames {
                    let memory = Memory::new(BATCH, MOST_BYTES);
                    let log = FrameLog::new(&config, Selection::default(), Box::new(memory.clone()))
                        .map_err(|error| json!({ "message": error.to_string() }))?;
                    self.frames = Some(memory);
                    world.log_to(log);
                }
                self.world = Some(world);
                Ok(json!({ "end_s": config.duration.seconds() }))
            }
            Request::Advance { until_s } => {
                let world = self.world()?;
                let until = Time::ZERO + Span::from_seconds(until_s.clamp(0.0, world.end().seconds()));
                let is_over = world.advance(until).is_none();
                Ok(json!({ "now_s": world.now().seconds(), "over": is_over }))
            }
            Request::Tables => {
                let world = self.world()?;
                let outcome = world.tables();
                Ok(tables::output(world.config(), &outcome))
            }
            Request::Frames | Request::FramesSoFar { .. } => unreachable!("their answers are no JSON"),
        }
    }

    fn world(&mut self) -> Result<&mut World, Value> {
        self.world.as_mut().ok_or_else(|| json!({ "message": "there is no run" }))
    }
}

/// Number of transmissions in a batch of the frame log.
const BATCH: usize = 1_024;
/// Largest size of the rows of a frame log in bytes, about a million transmissions. The log omits later rows.
const MOST_BYTES: usize = 128 << 20;

/// Name of a scenario without a file in messages.
const ORIGIN: &str = "scenario";

fn error(error: &ScenarioError) -> Value {
    let (found, remedy) = (error.found(), error.remedy());
    let mut made =
        json!({ "message": error.to_string(), "key": error.key, "found": found, "remedy": remedy });
    match &error.place {
        Place::Line { line, .. } => made["line"] = (*line).into(),
        place @ (Place::Override(_) | Place::Setting(_)) => made["option"] = place.to_string().into(),
    }
    made
}
