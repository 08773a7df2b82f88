// Bytes to text and back, and compressed.

/** Bytes of base64, of either alphabet. */
export function fromBase64(text) {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Base64 for URLs, without padding. */
export function toBase64Url(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** Compressed bytes; `format` is "gzip" or "deflate-raw". */
export function deflate(bytes, format) {
  return through(bytes, new CompressionStream(format), Infinity);
}

/** What compressed bytes hold; throws if that is more than `most` bytes. */
export function inflate(bytes, format, most = Infinity) {
  return through(bytes, new DecompressionStream(format), most);
}

async function through(bytes, stream, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`more than ${most} bytes`);
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
