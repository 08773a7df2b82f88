// The engine: crate `web` compiled to WebAssembly, a request in and an answer out.

/** What is wrong with a scenario: message, and line or option, key, found and remedy. */
export class ScenarioError extends Error {
  constructor(details) {
    super(details.message);
    this.details = details;
  }
}

/** An instance of the engine, which has at most one run. */
export class Engine {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.exports = new WebAssembly.Instance(module, {}).exports;
    this.broken = null;
  }

  /** The answer to a request, see crates/web/src/requests.rs. Throws a ScenarioError, or an Error where the engine has a bug. */
  call(request) {
    this.ask(request);
    const { ok, error } = JSON.parse(this.read());
    if (error) throw new ScenarioError(error);
    return ok;
  }

  /** The frame log of the run, which ends with that; of no bytes if it has none. */
  frames() {
    this.ask({ do: "frames" });
    return this.bytes().slice();
  }

  /** A copy of the log as far as it is written, if that is more than so many bytes; else no bytes. */
  framesSoFar(longerThan) {
    this.ask({ do: "frames-so-far", longer_than: Math.round(longerThan) });
    return this.bytes().slice();
  }

  ask(request) {
    if (this.broken) throw this.broken;
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    try {
      const at = this.exports.input(bytes.length);
      new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
      this.exports.call();
    } catch (trap) {
      this.broken = new Error(`The engine met a bug or ran out of memory: ${this.read() || trap.message}`);
      throw this.broken;
    }
  }

  read() {
    return new TextDecoder().decode(this.bytes());
  }

  /** The last answer, until the next request. */
  bytes() {
    const { memory, output, output_length: length } = this.exports;
    return new Uint8Array(memory.buffer, output(), length());
  }
}
