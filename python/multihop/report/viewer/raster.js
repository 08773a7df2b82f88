// Buffer of pixels: thousands of small rectangles are faster than with canvas operations.

/** Image in device pixels. */
export class Raster {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.colours = new Map();
  }

  /** Clears the image and sets its size. */
  begin(width, height) {
    if (!this.image || this.canvas.width !== width || this.canvas.height !== height) {
      Object.assign(this.canvas, { width, height });
      this.image = this.canvas.getContext("2d").createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else this.pixels.fill(0);
    this.width = width;
    this.height = height;
    this.used = false;
  }

  /** Returns the pixel value of a colour #rrggbb. */
  colour(text) {
    if (!this.colours.has(text)) {
      const bytes = new Uint8Array([1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)).concat(255));
      this.colours.set(text, new Uint32Array(bytes.buffer)[0]);
    }
    return this.colours.get(text);
  }

  /** Fills the columns [left, right) of the rows [top, bottom), which are integers. */
  fill(left, top, right, bottom, colour) {
    const to = Math.min(this.width, right);
    const end = Math.min(this.height, bottom);
    for (let row = Math.max(0, top); row < end; row += 1) {
      const first = row * this.width;
      for (let at = first + Math.max(0, left); at < first + to; at += 1) this.pixels[at] = colour;
    }
    this.used = true;
  }

  /** Draws the image on a canvas, `left` device pixels from its edge. */
  paint(g, left) {
    if (!this.used) return;
    this.canvas.getContext("2d").putImageData(this.image, 0, 0);
    g.save();
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.drawImage(this.canvas, left, 0);
    g.restore();
  }
}
