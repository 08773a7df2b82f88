// Colours and dimensions of the drawings.

/** Okabe and Ito's palette, as in the report. */
export const COLOURS = { rts: "#E69F00", cts: "#56B4E9", data: "#0072B2", ack: "#009E73", lost: "#D55E00" };
export const FLOW_COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C8C8C", "#6A51A3"];
/** Heights of a lane, a track and the axis, in pixels. */
export const LANE = 26;
export const TRACK = 62;
export const AXIS = 22;

/** Entries of the legend, as name and colour; logs of captures have only the frames. */
export const FRAMES = [["RTS", COLOURS.rts], ["CTS", COLOURS.cts], ["DATA", COLOURS.data], ["ACK", COLOURS.ack]];
export const LEGEND = [
  ...FRAMES, ["collision or lost", COLOURS.lost],
  ["contends", "contends"], ["slots counted", "soft"], ["deferred", "backoff"], ["NAV", "nav"], ["off", "off"],
];
