// The list of records or prompts, filtered, sorted and paged, and the open one. The URL fragment holds all this state.

const ROWS = 25;
const COLUMNS = [
  ["", (store, at) => store.outcome(at)],
  ["id", (store, at) => String(store.id[at])],
  ["task", (store, at) => store.tasks[store.task[at]]],
  ["model", (store, at) => store.runs[store.run[at]]],
  ["reward", (store, at) => (store.reward[at] === null ? Number.NaN : store.reward[at])],
  ["chars", (store, at) => (store.length_of[at] === null ? Number.NaN : store.length_of[at])],
  ["tokens", (store, at) => (store.tokens[at] === null ? Number.NaN : store.tokens[at])],
  ["kind", (store, at) => store.kinds[store.kind[at]]],
];
// The columns of the list of prompts: its rows are lists of records.
const OF_PROMPTS = (store) => [
  ["right", (places) => meanOf(store, places)],
  ["id", ([at]) => String(store.id[at])],
  ["task", ([at]) => store.tasks[store.task[at]]],
  ...store.runs.slice(0, MOST_MODELS).map((name, run) => [name, (places) => meanOf(store, places.filter((at) => store.run[at] === run))]),
];
const MOST_MODELS = 6;
const CHOICES = { model: ["run", "runs"], task: ["task", "tasks"], kind: ["kind", "kinds"] };
const FIELDS = ["find", "model", "task", "outcome", "kind", "text"];
const CHECKS = ["differ", "grouped"];

function meanOf(store, places) {
  const scored = places.filter((at) => store.correct[at] !== null);
  return scored.length ? scored.filter((at) => store.correct[at]).length / scored.length : Number.NaN;
}

// What can be asked for by name in the field Find: values of words are parts of them, numbers can be compared.
const ASKED = {
  id: (store, at) => String(store.id[at]), task: (store, at) => store.tasks[store.task[at]],
  model: (store, at) => store.runs[store.run[at]], kind: (store, at) => store.kinds[store.kind[at]],
  outcome: (store, at) => OUTCOMES[store.outcome(at)], status: (store, at) => store.statuses[store.status[at]],
  reward: (store, at) => store.reward[at], chars: (store, at) => store.length_of[at],
  tokens: (store, at) => store.tokens[at], sample: (store, at) => store.sample[at], line: (store, at) => store.line[at] + 1,
  right: (store, at) => meanOf(store, store.siblings(at)),
};
const COMPARED = {
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
  "=": (a, b) => (typeof a === "number" ? a === Number(b) : String(a).toLowerCase() === b),
  ":": (a, b) => (typeof a === "number" ? a === Number(b) : String(a).toLowerCase().includes(b)),
};

// The tests of a query such as ``reward<0.5 model:qwen -kind:"no answer" a17``, all of which a record must pass.
function testsOf(query, texts, store) {
  return [...query.matchAll(/(-?)(?:([a-z]+)([<>]=?|[:=]))?(?:"([^"]*)"|(\S+))/gi)].map(([whole, not, name, sign, quoted, plain]) => {
    const value = (quoted ?? plain).toLowerCase();
    const field = name && ASKED[name.toLowerCase()];
    const word = whole.slice(not.length).replaceAll('"', "").toLowerCase();
    const holds = field
      ? (at) => { const found = field(store, at); return found !== null && !Number.isNaN(found) && COMPARED[sign](found, sign.length && "<>".includes(sign[0]) ? Number(value) : value); }
      : (at) => texts[at].includes(word);
    return (at) => holds(at) === !not;
  });
}

class Browser {
  constructor(store) {
    this.store = store;
    this.page = 0;
    this.open = null;
    this.shown = null;
    this.sorted = null;
    this.search = 0;
    this.places = []; // records, or lists of a prompt's records where there is one row a prompt
    this.pair = null;
    $("list").classList.toggle("one-model", store.runs.length < 2);
    $("list").classList.toggle("no-tokens", store.tokens.every((n) => n === null));
    $("differ").closest("label").hidden = store.runs.length < 2;
    this.texts = Array.from({ length: store.length }, (_, at) =>
      `${store.id[at]} ${store.tasks[store.task[at]]} ${store.kinds[store.kind[at]]}`.toLowerCase());
    this.byLine = Array.from({ length: store.length }, (_, at) => at)
      .sort((a, b) => store.line[a] - store.line[b] || store.sample[a] - store.sample[b] || store.run[a] - store.run[b]);
    this.head();
    for (const [id, [, names]] of Object.entries(CHOICES)) this.choices(id, store[names]);
    this.choices("outcome", OUTCOMES);
    for (const id of ["find", "model", "task", "outcome", "kind", "differ", "grouped"]) $(id).addEventListener("input", () => this.asked());
    let typing = 0;
    for (const kind of ["focusin", "pointerenter"]) $("filters").addEventListener(kind, () => store.readAll());
    $("text").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => this.asked(), 80); });
    $("export").addEventListener("click", async () => {
      await download(store, this.records(), "records.jsonl", (share) => { $("export").textContent = `Reading ${Math.round(100 * share)} %`; });
      $("export").textContent = "Download the list";
    });
    $("filters").addEventListener("submit", (event) => { event.preventDefault(); this.asked(); });
    for (const [id, where] of [["first", () => 0], ["back", () => this.page - 1], ["next", () => this.page + 1], ["last", () => Infinity]]) {
      $(id).addEventListener("click", () => this.turn(where()));
    }
    $("list").tBodies[0].addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !event.target.closest("a")) location.hash = this.addressOf(Number(row.dataset.at));
    });
    this.follow(new URLSearchParams());
  }

  choices(id, names) {
    $(id).append(make("option", { value: "" }, "all"), ...names.map((name) => make("option", { value: name }, id === "kind" ? name.slice(0, 60).replaceAll("_", " ") : name.slice(0, 60))));
    if (names.length < 2) $(id).closest("label").hidden = true;
  }

  head() {
    const row = make("tr");
    const columns = this.grouped ? OF_PROMPTS(this.store) : COLUMNS;
    columns.forEach(([name, key]) => {
      const header = make("th", { scope: "col" }, make("button", { type: "button", title: name, "aria-label": name ? null : "outcome" }, end_of(name) || "±"));
      header.firstChild.addEventListener("click", () => {
        const down = header.getAttribute("aria-sort") === "ascending";
        for (const other of row.cells) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", down ? "descending" : "ascending");
        this.sorted = [key, down];
        this.sort();
        this.turn(0);
      });
      row.append(header);
    });
    $("list").tHead.replaceChildren(row);
    $("list").classList.toggle("by-prompt", this.grouped);
  }

  get grouped() {
    return $("grouped").checked;
  }

  // The records of all rows of the list.
  records() {
    return this.grouped ? this.places.flat() : this.places;
  }

  // The URL fragment for the current filters and for an open record (null: none is open).
  address(at) {
    const state = new URLSearchParams({ view: "records" });
    for (const id of FIELDS) if ($(id).value) state.set(id, $(id).value);
    for (const id of CHECKS) if ($(id).checked) state.set(id, "1");
    if (at !== null) state.set("record", this.store.name(at));
    return `#${state}`;
  }

  // That of a record's prompt, with the two responses that are shown side by side.
  promptAddress(at, pair = []) {
    const state = new URLSearchParams(this.address(null).slice(1));
    state.set("prompt", this.store.name(at));
    for (const one of pair) state.append("side", this.store.name(one));
    return `#${state}`;
  }

  addressOf(at) {
    return this.grouped ? this.promptAddress(at) : this.address(at);
  }

  asked() {
    history.replaceState(null, "", this.address(null));
    dispatchEvent(new Event("hashchange"));
  }

  // Shows the state that a URL fragment describes.
  async follow(state) {
    for (const id of FIELDS) if ($(id).value !== (state.get(id) ?? "")) $(id).value = state.get(id) ?? "";
    const before = this.grouped;
    for (const id of CHECKS) $(id).checked = state.has(id);
    if (this.grouped !== before) {
      this.sorted = null;
      this.head();
    }
    const prompt = state.get("prompt");
    const wanted = prompt ?? state.get("record");
    this.pair = prompt === null ? null : state.getAll("side").map((name) => this.store.places.get(name)).filter((at) => at !== undefined).slice(0, 2);
    for (const name of ["record", "prompt", "side", "view"]) state.delete(name);
    const filters = state.toString();
    const filtered = filters === this.shown ? null : this.filter();
    this.shown = filters;
    document.querySelector(".browser").classList.toggle("reading", wanted !== null);
    document.querySelector(".browser").classList.toggle("prompt", prompt !== null);
    $("records").classList.toggle("reading", wanted !== null);
    this.open = wanted === null ? null : this.store.places.get(wanted) ?? null;
    if (this.open !== null) await this.show(this.open, filtered);
    else {
      $("record").replaceChildren(wanted === null ? make("p", { class: "note" }, "Choose a record.")
        : make("p", { class: "why" }, "This record is not in the page: below the list stands which records are."));
      if (filtered === null) this.turn(this.page);
      await filtered;
    }
  }

  failed(error) {
    $("count").textContent = "";
    $("record").replaceChildren(make("p", { class: "why" }, `The texts are not shown: ${error.message}.`));
  }

  async filter() {
    const { store } = this;
    const tests = testsOf($("find").value, this.texts, store);
    const chosen = Object.entries(CHOICES).filter(([id]) => $(id).value)
      .map(([id, [column, names]]) => [store[column], store[names].indexOf($(id).value)]);
    const outcome = OUTCOMES.indexOf($("outcome").value);
    const differ = $("differ").checked;
    this.places = this.byLine.filter((at) => chosen.every(([column, value]) => column[at] === value)
      && (outcome < 0 || store.outcome(at) === outcome)
      && (!differ || store.differs(at))
      && tests.every((test) => test(at)));
    const wanted = $("text").value;
    const search = ++this.search;
    if (wanted) {
      const found = await store.within(wanted, this.places,
        (share, n) => { $("count").textContent = `searching the texts: ${Math.round(100 * share)} %, ${n.toLocaleString("en")} found`; }, () => search !== this.search);
      if (found === null) return;
      this.places = this.places.filter((at) => found.has(at));
    }
    const n = this.places.length.toLocaleString("en");
    let said = `${n} of ${store.length.toLocaleString("en")} records`;
    if (this.grouped) {
      const prompts = new Map();
      for (const at of this.places) {
        const all = store.siblings(at);
        if (prompts.has(all)) prompts.get(all).push(at); else prompts.set(all, [at]);
      }
      this.places = [...prompts.values()];
      said = `${this.places.length.toLocaleString("en")} prompts with ${said}`;
    }
    this.sort();
    $("count").textContent = said;
    this.turn(0);
  }

  sort() {
    if (this.sorted === null) return;
    const [key, down] = this.sorted;
    const keyed = this.places.map((at) => [this.grouped ? key(at) : key(this.store, at), at]);
    const first = (row) => (this.grouped ? row[0] : row);
    keyed.sort((a, b) => compare(a[0], b[0], down) || first(a[1]) - first(b[1]));
    this.places = keyed.map(([, at]) => at);
  }

  turn(page) {
    const pages = Math.max(1, Math.ceil(this.places.length / ROWS));
    this.page = Math.min(Math.max(0, page), pages - 1);
    const rows = this.places.slice(this.page * ROWS, (this.page + 1) * ROWS).map((at) => (this.grouped ? this.promptRow(at) : this.row(at)));
    $("list").tBodies[0].replaceChildren(...rows);
    $("page").textContent = `${this.page + 1} / ${pages.toLocaleString("en")}`;
    $("first").disabled = $("back").disabled = this.page === 0;
    $("next").disabled = $("last").disabled = this.page === pages - 1;
  }

  row(at) {
    const { store } = this;
    const outcome = store.outcome(at);
    const cells = [
      make("span", { class: `outcome ${CLASSES[outcome]}`, title: OUTCOMES[outcome] }, SIGNS[outcome]),
      make("a", { href: this.address(at), dir: "auto", title: String(store.id[at]).slice(0, 400) }, store.severalOf(at) ? `#${store.sample[at]} ` : "", end_of(String(store.id[at])).replace(EACH_UNSEEN, "\ufffd") || "(empty)"),
      store.tasks[store.task[at]], store.runs[store.run[at]],
      store.rewarded(at), counted(store.length_of[at]), counted(store.tokens[at]),
      store.kindOf(at),
    ];
    return make("tr", { "data-at": String(at), "aria-current": at === this.open ? "true" : null }, ...cells.map((cell) => make("td", {}, cell)));
  }

  promptRow(places) {
    const { store } = this;
    const [at] = places;
    const cells = [
      shareOf(store, places),
      make("a", { href: this.promptAddress(at), dir: "auto", title: String(store.id[at]).slice(0, 400) }, end_of(String(store.id[at])).replace(EACH_UNSEEN, "\ufffd") || "(empty)"),
      store.tasks[store.task[at]],
      ...store.runs.slice(0, MOST_MODELS).map((_, run) => shareOf(store, places.filter((one) => store.run[one] === run))),
    ];
    return make("tr", { "data-at": String(at), "aria-current": this.open !== null && places.includes(this.open) ? "true" : null }, ...cells.map((cell) => make("td", {}, cell)));
  }

  // The row of the list that holds a record.
  rowOf(at) {
    return this.grouped ? this.places.findIndex((places) => places.includes(at)) : this.places.indexOf(at);
  }

  async show(at, filtered) {
    await filtered;
    const pair = this.pair;
    const page = pair === null ? recordPage(this.store, at, await this.store.record(at), this) : await promptPage(this.store, at, pair, this);
    if (this.open !== at || this.pair !== pair) return;
    $("record").replaceChildren(...page);
    const place = this.rowOf(at);
    this.turn(place < 0 ? this.page : Math.floor(place / ROWS));
    if (matchMedia("(max-width: 60rem)").matches) scrollTo(0, 0);
    const mark = $("record").querySelector("mark");
    if (mark) {
      const box = mark.closest("pre");
      box.scrollTop = Math.max(0, mark.offsetTop - box.offsetTop - box.clientHeight / 2);
    }
  }

  step(by) {
    const place = this.open === null ? -1 : this.rowOf(this.open);
    const next = place < 0 ? 0 : place + by;
    if (next < 0 || next >= this.places.length) return;
    this.open = this.grouped ? this.places[next][0] : this.places[next]; // at once: the next key may be pressed before the hash change is handled
    location.hash = this.pair === null ? this.addressOf(this.open) : this.promptAddress(this.open);
  }
}
