// Theme, keys, and what the address says.

function prepareTheme() {
  const root = document.documentElement;
  const asked = matchMedia("(prefers-color-scheme: dark)");
  let kept = null;
  try { kept = localStorage.getItem("relfast-theme"); } catch { /* a file may have no storage */ }
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
  const keys = {
    "/": () => browser && $("find").focus(),
    j: () => browser && browser.step(1),
    k: () => browser && browser.step(-1),
    n: () => browser && browser.turn(browser.page + 1),
    p: () => browser && browser.turn(browser.page - 1),
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

function preparePrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main > section > details:not([open])")];
    opened.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
}

async function start() {
  preparePrint();
  prepareTheme();
  prepareTables();
  prepareFigures();
  if (!$("record-index")) {
    prepareKeys(null);
    return;
  }
  const store = await new Store().load();
  const browser = new Browser(store);
  prepareKeys(browser);
  const follow = (scroll) => {
    const wanted = location.hash.match(/^#record=(.*)$/s);
    if (!wanted) return;
    const name = wanted[1].split("/").map((part) => {
      try { return encodeURIComponent(decodeURIComponent(part)); } catch { return part; }
    }).join("/");
    const at = store.places.get(name);
    if (at === undefined) {
      $("record").replaceChildren(make("p", { class: "why" }, "This record is not in the page: see above which records are."));
      $("records").scrollIntoView();
    } else browser.show(at, scroll);
  };
  addEventListener("hashchange", () => follow(false));
  follow(true);
  document.documentElement.dataset.ready = "true";
}

start();
