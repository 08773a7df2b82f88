// Base64 and compression of bytes.

/** Decodes base64, in the standard or the URL alphabet. */
export function fromBase64(text) {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Encodes bytes as base64 for URLs, without padding. */
export function toBase64Url(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** Compresses bytes; `format` is "gzip" or "deflate-raw". */
export function deflate(bytes, format) {
  return through(bytes, new CompressionStream(format), Infinity);
}

/** Decompresses bytes; throws if the result is longer than `limit` bytes. */
export function inflate(bytes, format, limit = Infinity) {
  return through(bytes, new DecompressionStream(format), limit);
}

/** Passes bytes through a stream. */
async function through(bytes, stream, limit) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw new Error(`more than ${limit} bytes`);
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
