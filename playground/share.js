// Links that contain a compressed scenario in the fragment of the address, which is never sent to a server.
import { deflate, fromBase64, inflate, toBase64Url } from "./bytes.js";

/** Maximum length of a link that browsers and messengers support. */
const MAX_LINK = 64_000;
/** Maximum size of a scenario in a link, in bytes. */
const MAX_TEXT = 1_000_000;

/** Returns the fragment of a page state `{ text, scene, scheme, seed, question }`. */
export async function toFragment(state) {
  const packed = await deflate(new TextEncoder().encode(JSON.stringify(state)), "deflate-raw");
  const fragment = "#s=" + toBase64Url(packed);
  if (fragment.length > MAX_LINK) {
    throw new Error(`The scenario is too long for a link (found ${size(fragment.length)}, at most ${size(MAX_LINK)}). Download it and send the file.`);
  }
  return fragment;
}

/** Returns the content of a fragment: `{ scene }`, or a page state; null if there is none. */
export async function fromFragment(fragment) {
  if (fragment.length > MAX_LINK) {
    throw new Error(`The link is too long (found ${size(fragment.length)}, at most ${size(MAX_LINK)}). Open the scenario as a file.`);
  }
  const [, key, value] = /^#(s|scene)=(.*)$/s.exec(fragment) ?? [];
  if (key === "scene") return { scene: decoded(value) };
  if (key !== "s") return null;
  try {
    const state = JSON.parse(new TextDecoder().decode(await inflate(fromBase64(value), "deflate-raw", MAX_TEXT)));
    if (typeof state.text !== "string") throw new Error("no text");
    return state;
  } catch {
    throw new Error("The link is damaged: it contains no scenario. Ask for the link again, or for the file.");
  }
}

/** Decodes a value of an address; returns it unchanged if it cannot be decoded. */
function decoded(value) {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

const size = (bytes) => (bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.round(bytes / 1e3)} kB`);
