// A figure fills the window; the wheel zooms, a drag moves, and it can be saved as it is shown.

function prepareFigures() {
  const dialog = $("zoomed");
  const place = $("zoom-place");
  let home = null;
  let svg = null;
  let whole = null;
  let view = null;

  const show = () => svg.setAttribute("viewBox", view.join(" "));
  const zoom = (factor, x = 0.5, y = 0.5) => {
    view = [view[0] + view[2] * x * (1 - factor), view[1] + view[3] * y * (1 - factor), view[2] * factor, view[3] * factor];
    show();
  };
  for (const button of document.querySelectorAll("button.zoom")) {
    button.addEventListener("click", () => {
      home = button.closest("figure").querySelector(".drawing");
      svg = home.firstElementChild;
      whole = svg.getAttribute("viewBox").split(/\s+/).map(Number);
      view = [...whole];
      place.append(svg);
      dialog.showModal();
    });
  }
  dialog.addEventListener("close", () => {
    view = whole;
    show();
    home.append(svg);
  });
  $("zoom-in").addEventListener("click", () => zoom(0.8));
  $("zoom-out").addEventListener("click", () => zoom(1.25));
  $("zoom-reset").addEventListener("click", () => { view = [...whole]; show(); });
  $("zoom-close").addEventListener("click", () => dialog.close());
  $("zoom-save").addEventListener("click", () => save(svg, home.closest("figure").id.replace("figure-", "")));
  place.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = place.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.15 : 0.87, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }, { passive: false });
  place.addEventListener("pointerdown", (event) => {
    place.setPointerCapture(event.pointerId);
    const scale = view[2] / place.clientWidth;
    const [left, top] = view;
    const move = (now) => {
      view = [left - (now.clientX - event.clientX) * scale, top - (now.clientY - event.clientY) * scale, view[2], view[3]];
      show();
    };
    place.addEventListener("pointermove", move);
    place.addEventListener("pointerup", () => place.removeEventListener("pointermove", move), { once: true });
  });
}

function save(svg, name) {
  const colours = getComputedStyle(document.documentElement);
  const text = new XMLSerializer().serializeToString(svg)
    .replace(/var\((--[\w-]+)\)/g, (_, variable) => colours.getPropertyValue(variable).trim());
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  make("a", { href: url, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
