// Tooltips that appear at once. Without scripts, the browser's own (from <title>) do, a moment later.
"use strict";
(() => {
  const box = document.getElementById("tooltip");
  document.querySelectorAll(".tip > title").forEach((title) => title.remove());
  const move = (event) => {
    const part = event.target.closest ? event.target.closest(".tip") : null;
    box.hidden = !part;
    if (!part) return;
    box.textContent = part.dataset.tip;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = Math.min(event.clientX + 14, window.innerWidth - width - 8) + "px";
    box.style.top = (event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 18) + "px";
  };
  document.addEventListener("pointermove", move);
  document.addEventListener("pointerleave", () => { box.hidden = true; });
})();
