// Theme, keyboard shortcuts, and the URL fragment, which says what view, filters and record are shown.

function prepareTheme() {
  const root = document.documentElement;
  const asked = matchMedia("(prefers-color-scheme: dark)");
  let kept = null;
  try { kept = localStorage.getItem("relfast-theme"); } catch { /* a page opened from a file may have no storage */ }
  const set = (theme) => {
    root.dataset.theme = theme;
    $("theme").textContent = theme === "dark" ? "Light" : "Dark";
  };
  set(kept === "dark" || kept === "light" ? kept : asked.matches ? "dark" : "light");
  asked.addEventListener("change", () => { if (kept === null) set(asked.matches ? "dark" : "light"); });
  $("theme").addEventListener("click", () => {
    kept = root.dataset.theme === "dark" ? "light" : "dark";
    set(kept);
    try { localStorage.setItem("relfast-theme", kept); } catch { /* as above */ }
  });
}

function prepareKeys(browser) {
  const listed = (action) => () => { if (browser) { if (!inView("records")) location.hash = "view=records"; action(); } };
  const keys = {
    "/": listed(() => setTimeout(() => $("find").focus())), // once the view is shown
    j: listed(() => browser.step(1)),
    k: listed(() => browser.step(-1)),
    n: listed(() => browser.turn(browser.page + 1)),
    p: listed(() => browser.turn(browser.page - 1)),
    t: () => $("theme").click(),
    "?": () => $("keys").showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  $("keys-button").addEventListener("click", () => $("keys").showModal());
  $("keys-close").addEventListener("click", () => $("keys").close());
}

const inView = (name) => !document.querySelector(`section[data-view="${name}"]`).hidden;

function showView(asked) {
  const sections = [...document.querySelectorAll("section[data-view]")];
  const view = sections.some((one) => one.dataset.view === asked) ? asked : sections[0].dataset.view;
  const before = sections.find((one) => !one.hidden && one.dataset.view === view && document.documentElement.dataset.ready);
  for (const one of sections) one.hidden = one.dataset.view !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#view=${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.querySelector(".lead").hidden = view !== sections[0].dataset.view;
  if (!before) scrollTo(0, 0);
}

async function start() {
  let printed = [];
  addEventListener("beforeprint", () => {
    printed = [...document.querySelectorAll("main > section > details:not([open])")];
    printed.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => printed.forEach((one) => { one.open = false; }));
  prepareTheme();
  prepareTables();
  const browser = $("record-index") ? new Browser(await new Store().load()) : null;
  prepareKeys(browser);
  const follow = async () => {
    const asked = location.hash;
    if (asked !== "#main") { // "#main" is the skip link
      const state = new URLSearchParams(asked.slice(1));
      showView(state.has("record") || state.has("prompt") ? "records" : state.get("view"));
      if (browser && inView("records")) await browser.follow(state).catch((error) => browser.failed(error));
    }
    if (asked === location.hash) document.documentElement.dataset.shown = asked; // browser tests wait for this
  };
  addEventListener("hashchange", follow);
  await follow();
  document.documentElement.dataset.ready = "true";
}

start();
