// The list of records, filtered, sorted and paged, and the open record. The URL fragment holds all this state.

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
const CHOICES = { model: ["run", "runs"], task: ["task", "tasks"], kind: ["kind", "kinds"] };
const FIELDS = ["find", "model", "task", "outcome", "kind", "text"];

class Browser {
  constructor(store) {
    this.store = store;
    this.page = 0;
    this.open = null;
    this.shown = null;
    this.sorted = null;
    this.search = 0;
    this.places = [];
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
    for (const id of ["find", "model", "task", "outcome", "kind", "differ"]) $(id).addEventListener("input", () => this.asked());
    $("text").addEventListener("change", () => this.asked());
    $("filters").addEventListener("submit", (event) => { event.preventDefault(); this.asked(); });
    for (const [id, where] of [["first", () => 0], ["back", () => this.page - 1], ["next", () => this.page + 1], ["last", () => Infinity]]) {
      $(id).addEventListener("click", () => this.turn(where()));
    }
    $("list").tBodies[0].addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !event.target.closest("a")) location.hash = this.address(Number(row.dataset.at));
    });
    this.follow(new URLSearchParams());
  }

  choices(id, names) {
    $(id).append(make("option", { value: "" }, "all"), ...names.map((name) => make("option", { value: name }, name.slice(0, 60))));
    if (names.length < 2) $(id).closest("label").hidden = true;
  }

  head() {
    const row = make("tr");
    COLUMNS.forEach(([name, key], column) => {
      const header = make("th", { scope: "col" }, make("button", { type: "button", "aria-label": name ? null : "outcome" }, name || "±"));
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
  }

  // The URL fragment for the current filters and for an open record (null: none is open).
  address(at) {
    const state = new URLSearchParams({ view: "records" });
    for (const id of FIELDS) if ($(id).value) state.set(id, $(id).value);
    if ($("differ").checked) state.set("differ", "1");
    if (at !== null) state.set("record", this.store.name(at));
    return `#${state}`;
  }

  asked() {
    history.replaceState(null, "", this.address(null));
    dispatchEvent(new Event("hashchange"));
  }

  // Shows the state that a URL fragment describes.
  async follow(state) {
    for (const id of FIELDS) if ($(id).value !== (state.get(id) ?? "")) $(id).value = state.get(id) ?? "";
    $("differ").checked = state.has("differ");
    const wanted = state.get("record");
    state.delete("record");
    state.delete("view");
    const filters = state.toString();
    const filtered = filters === this.shown ? null : this.filter();
    this.shown = filters;
    document.querySelector(".browser").classList.toggle("reading", wanted !== null);
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
    const words = $("find").value.toLowerCase().split(/\s+/).filter((word) => word);
    const chosen = Object.entries(CHOICES).filter(([id]) => $(id).value)
      .map(([id, [column, names]]) => [store[column], store[names].indexOf($(id).value)]);
    const outcome = OUTCOMES.indexOf($("outcome").value);
    const differ = $("differ").checked;
    this.places = this.byLine.filter((at) => chosen.every(([column, value]) => column[at] === value)
      && (outcome < 0 || store.outcome(at) === outcome)
      && (!differ || store.differs(at))
      && words.every((word) => this.texts[at].includes(word)));
    const wanted = $("text").value;
    const search = ++this.search;
    if (wanted) {
      const found = await store.within(wanted, this.places,
        (share) => { $("count").textContent = `searching: ${Math.round(100 * share)} %`; }, () => search !== this.search);
      if (found === null) return;
      this.places = this.places.filter((at) => found.has(at));
    }
    this.sort();
    $("count").textContent = `${this.places.length.toLocaleString("en")} of ${store.length.toLocaleString("en")} records`;
    this.turn(0);
  }

  sort() {
    if (this.sorted === null) return;
    const [key, down] = this.sorted;
    const keyed = this.places.map((at) => [key(this.store, at), at]);
    keyed.sort((a, b) => compare(a[0], b[0], down) || a[1] - b[1]);
    this.places = keyed.map(([, at]) => at);
  }

  turn(page) {
    const pages = Math.max(1, Math.ceil(this.places.length / ROWS));
    this.page = Math.min(Math.max(0, page), pages - 1);
    const rows = this.places.slice(this.page * ROWS, (this.page + 1) * ROWS).map((at) => this.row(at));
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
      store.reward[at] === null ? "–" : number(store.reward[at]), counted(store.length_of[at]), counted(store.tokens[at]),
      store.kinds[store.kind[at]].replaceAll("_", " "),
    ];
    return make("tr", { "data-at": String(at), "aria-current": at === this.open ? "true" : null }, ...cells.map((cell) => make("td", {}, cell)));
  }

  async show(at, filtered) {
    await filtered;
    const record = await this.store.record(at);
    if (this.open !== at) return;
    $("record").replaceChildren(...recordPage(this.store, at, record, this));
    const place = this.places.indexOf(at);
    this.turn(place < 0 ? this.page : Math.floor(place / ROWS));
    if (matchMedia("(max-width: 60rem)").matches) scrollTo(0, 0);
    const mark = $("record").querySelector("mark");
    if (mark) {
      const box = mark.closest("pre");
      box.scrollTop = Math.max(0, mark.offsetTop - box.offsetTop - box.clientHeight / 2);
    }
  }

  step(by) {
    const place = this.places.indexOf(this.open);
    const next = place < 0 ? 0 : place + by;
    if (next < 0 || next >= this.places.length) return;
    this.open = this.places[next]; // at once: the next key may be pressed before the hash change is handled
    location.hash = this.address(this.open);
  }
}
