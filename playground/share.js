// Links that carry a scenario, compressed, behind the # of the address. Nothing of it reaches a server.
import { deflate, fromBase64, inflate, toBase64Url } from "./bytes.js";

/** Characters of a link that browsers and messengers still carry. */
const LINK_MOST = 64_000;
const TEXT_MOST = 1_000_000;

/** The fragment of what is on the page: `{ text, scene, scheme, seed }`. */
export async function toFragment(state) {
  const packed = await deflate(new TextEncoder().encode(JSON.stringify(state)), "deflate-raw");
  const fragment = "#s=" + toBase64Url(packed);
  if (fragment.length > LINK_MOST) {
    throw new Error(`The scenario is too long for a link (${size(fragment.length)}, at most ${size(LINK_MOST)}). Download it and send the file.`);
  }
  return fragment;
}

/** What a fragment carries: `{ scene }`, or all of it; null if it carries nothing. */
export async function fromFragment(fragment) {
  if (fragment.length > LINK_MOST) {
    throw new Error(`This link is ${size(fragment.length)} long; links to scenarios have at most ${size(LINK_MOST)}. Open the scenario as a file.`);
  }
  const [, key, value] = /^#(s|scene)=(.*)$/s.exec(fragment) ?? [];
  if (key === "scene") return { scene: decoded(value) };
  if (key !== "s") return null;
  try {
    const state = JSON.parse(new TextDecoder().decode(await inflate(fromBase64(value), "deflate-raw", TEXT_MOST)));
    if (typeof state.text !== "string") throw new Error("no text");
    return state;
  } catch {
    throw new Error("This link is damaged: it carries no scenario. Ask for it again, or for the file.");
  }
}

/** A value of an address; as it stands if it cannot be decoded. */
function decoded(value) {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

const size = (bytes) => (bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.round(bytes / 1e3)} kB`);
