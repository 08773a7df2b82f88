// Engine: the crate `web` compiled to WebAssembly, which answers requests.

/** Error in a scenario: message, and line or option, key, found value and remedy. */
export class ScenarioError extends Error {
  constructor(details) {
    super(details.message);
    this.details = details;
  }
}

/** Instance of the engine, with at most one run. */
export class Engine {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.exports = new WebAssembly.Instance(module, {}).exports;
    this.broken = null;
  }

  /** Returns the answer to a request (crates/web/src/requests.rs). Throws a ScenarioError, or an Error if the engine has a bug. */
  call(request) {
    this.ask(request);
    const { ok, error } = JSON.parse(this.read());
    if (error) throw new ScenarioError(error);
    return ok;
  }

  /** Ends the run's frame log and returns it; empty if the run has none. */
  frames() {
    this.ask({ do: "frames" });
    return this.bytes().slice();
  }

  /** Returns a copy of the frame log so far, if it is longer than a number of bytes; otherwise empty. */
  framesSoFar(longerThan) {
    this.ask({ do: "frames-so-far", longer_than: Math.round(longerThan) });
    return this.bytes().slice();
  }

  /** Sends a request. */
  ask(request) {
    if (this.broken) throw this.broken;
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    try {
      const at = this.exports.input(bytes.length);
      new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
      this.exports.call();
    } catch (trap) {
      this.broken = new Error(`The engine has a bug or is out of memory: ${this.read() || trap.message}`);
      throw this.broken;
    }
  }

  /** Returns the last answer as text. */
  read() {
    return new TextDecoder().decode(this.bytes());
  }

  /** Returns the last answer, which is valid until the next request. */
  bytes() {
    const { memory, output, output_length: length } = this.exports;
    return new Uint8Array(memory.buffer, output(), length());
  }
}
