// Tooltips, legends that show and hide series, charts as files. Without this script the page has all the same content:
// the browser's own tooltips (from <title>), legends that only explain, and the numbers below each chart.
"use strict";
(() => {
  const box = document.getElementById("tooltip");
  document.querySelectorAll(".tip > title").forEach((title) => title.remove());

  const show = (text, x, y) => {
    box.textContent = text;
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = Math.max(4, Math.min(x + 14, window.innerWidth - width - 8)) + "px";
    box.style.top = (y + 18 + height > window.innerHeight ? y - height - 10 : y + 18) + "px";
  };
  const hide = () => { box.hidden = true; };
  const point = (event) => {
    const part = event.target.closest ? event.target.closest(".tip") : null;
    if (part) show(part.dataset.tip, event.clientX, event.clientY);
    else hide();
  };
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("pointerleave", hide);

  // What is wider than its place says so.
  const isWide = (place) => place.classList.toggle("wide", place.scrollWidth > place.clientWidth + 1);
  const places = new ResizeObserver((entries) => entries.forEach(({ target }) => isWide(target.closest(".scroll"))));
  document.querySelectorAll(".scroll, .scroll > *").forEach((each) => places.observe(each));

  // Arrow keys go through the points of a chart, from left to right.
  document.querySelectorAll("svg.chart").forEach((chart) => {
    let at = -1;
    const middle = (part) => { const r = part.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; };
    chart.setAttribute("tabindex", "0");
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      const parts = [...chart.querySelectorAll(".tip")].filter((part) => part.getClientRects().length);
      parts.sort((a, b) => middle(a)[0] - middle(b)[0]);
      if (!parts.length) return;
      at = (Math.max(at, step > 0 ? -1 : 0) + step + parts.length) % parts.length;
      show(parts[at].dataset.tip, ...middle(parts[at]));
    });
    chart.addEventListener("blur", hide);
  });

  // A part of a chart belongs to one or several series, and is shown while all of them are. A series that is pointed at is lifted in
  // every chart that has one of its name.
  const figures = [...document.querySelectorAll("figure.chart-box")].map((figure) => {
    const parts = [...figure.querySelectorAll("[data-series]")];
    const buttons = [...figure.querySelectorAll("[data-switch]")];
    return { figure, parts, buttons, numbers: new Map(buttons.map((button) => [button.textContent, button.dataset.switch])) };
  });
  const series = (part) => part.dataset.series.split(" ");
  const lift = ({ numbers }, number) => {
    const name = [...numbers.keys()].find((text) => numbers.get(text) === number);
    figures.forEach((each) => {
      const lifted = each.numbers === numbers ? number : each.numbers.get(name);
      each.parts.forEach((part) => part.classList.toggle("dim", typeof lifted === "string" && !series(part).includes(lifted)));
    });
  };
  figures.forEach((each) => {
    const off = new Set();
    each.buttons.forEach((button) => {
      const name = button.dataset.switch;
      button.disabled = false;
      button.addEventListener("click", () => {
        if (!off.delete(name)) off.add(name);
        button.setAttribute("aria-pressed", String(!off.has(name)));
        each.parts.forEach((part) => part.classList.toggle("off", series(part).some((one) => off.has(one))));
        lift(each, off.has(name) ? null : name);
      });
      const enter = () => lift(each, off.has(name) ? null : name);
      button.addEventListener("pointerenter", enter);
      button.addEventListener("focus", enter);
      ["pointerleave", "blur"].forEach((leave) => button.addEventListener(leave, () => lift(each, null)));
    });
    each.figure.querySelectorAll(".panels").forEach((panels) => {
      panels.addEventListener("pointerover", (event) => {
        const part = event.target.closest("[data-series]");
        lift(each, part ? series(part)[0] : null);
      });
      panels.addEventListener("pointerleave", () => lift(each, null));
    });
  });

  // The page holds each chart's file, compressed.
  document.querySelectorAll("a.file").forEach((link) => {
    if (!("DecompressionStream" in window)) return;
    link.hidden = false;
    link.tabIndex = 0;
    const save = async () => {
      const packed = Uint8Array.from(atob(link.dataset.file), (letter) => letter.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
      const blob = new Blob([await new Response(stream).arrayBuffer()], { type: "image/svg+xml" });
      const saver = document.createElement("a");
      saver.href = URL.createObjectURL(blob);
      saver.download = link.download;
      saver.click();
      setTimeout(() => URL.revokeObjectURL(saver.href), 60000);
    };
    link.addEventListener("click", save);
    link.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); save(); } });
  });

  // On paper, what verdicts rest on is shown.
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details.print").forEach((part) => { part.open = true; });
  });
})();
