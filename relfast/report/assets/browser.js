// The list of records: filtered, sorted, a page at a time; one of them is open.

const ROWS = 25;
const COLUMNS = [
  ["", (store, at) => store.outcome(at)],
  ["id", (store, at) => String(store.id[at])],
  ["task", (store, at) => store.task[at]],
  ["model", (store, at) => store.run[at]],
  ["reward", (store, at) => (store.reward[at] === null ? Number.NaN : store.reward[at])],
  ["kind", (store, at) => store.kinds[store.kind[at]]],
];

class Browser {
  constructor(store) {
    this.store = store;
    $("list").classList.toggle("one-model", store.runs.length < 2);
    this.page = 0;
    this.open = null;
    this.sorted = null;
    this.search = 0;
    this.texts = Array.from({ length: store.length }, (_, at) =>
      `${store.id[at]} ${store.tasks[store.task[at]]} ${store.kinds[store.kind[at]]}`.toLowerCase());
    this.head();
    this.choices("by-run", store.runs);
    this.choices("by-task", store.tasks);
    this.choices("by-outcome", OUTCOMES);
    this.choices("by-kind", store.kinds);
    for (const id of ["find", "by-run", "by-task", "by-outcome", "by-kind"]) $(id).addEventListener("input", () => this.filter());
    $("within").addEventListener("change", () => this.filter());
    $("filters").addEventListener("submit", (event) => { event.preventDefault(); this.filter(); });
    for (const [id, where] of [["first", () => 0], ["back", () => this.page - 1], ["next", () => this.page + 1], ["last", () => Infinity]]) {
      $(id).addEventListener("click", () => this.turn(where()));
    }
    $("list").tBodies[0].addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !event.target.closest("a")) location.hash = `record=${this.store.name(Number(row.dataset.at))}`;
    });
    this.filter();
  }

  choices(id, names) {
    $(id).append(make("option", { value: "" }, "all"), ...names.map((name, k) => make("option", { value: String(k) }, name.slice(0, 60))));
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
        this.sorted = [column, down];
        this.sort();
        this.turn(0);
      });
      row.append(header);
    });
    $("list").tHead.replaceChildren(row);
  }

  async filter() {
    const { store } = this;
    const words = $("find").value.toLowerCase().split(/\s+/).filter((word) => word);
    const chosen = (id) => ($(id).value === "" ? null : Number($(id).value));
    const [run, task, outcome, kind] = ["by-run", "by-task", "by-outcome", "by-kind"].map(chosen);
    const places = [];
    for (let at = 0; at < store.length; at++) {
      if (run !== null && store.run[at] !== run) continue;
      if (task !== null && store.task[at] !== task) continue;
      if (kind !== null && store.kind[at] !== kind) continue;
      if (outcome !== null && store.outcome(at) !== outcome) continue;
      if (words.length && !words.every((word) => this.texts[at].includes(word))) continue;
      places.push(at);
    }
    this.places = places;
    const wanted = $("within").value;
    const search = ++this.search;
    if (wanted) {
      const found = await store.within(wanted, places,
        (share) => { $("count").textContent = `searching: ${Math.round(100 * share)} %`; }, () => search !== this.search);
      if (found === null) return;
      this.places = places.filter((at) => found.has(at));
    }
    this.sort();
    $("count").textContent = `${this.places.length.toLocaleString("en")} of ${store.length.toLocaleString("en")} records`;
    this.turn(0);
  }

  sort() {
    if (this.sorted === null) return;
    const [column, down] = this.sorted;
    const key = COLUMNS[column][1];
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
      make("a", { href: `#record=${store.name(at)}`, dir: "auto" }, String(store.id[at]).slice(0, 80).replace(EACH_UNSEEN, "\ufffd") || "(empty)"),
      store.tasks[store.task[at]], store.runs[store.run[at]],
      store.reward[at] === null ? "–" : number(store.reward[at]), store.kinds[store.kind[at]],
    ];
    return make("tr", { "data-at": String(at), "aria-current": at === this.open ? "true" : null }, ...cells.map((cell) => make("td", {}, cell)));
  }

  async show(at, scroll) {
    this.open = at;
    const record = await this.store.record(at);
    if (this.open !== at) return;
    $("record").replaceChildren(...recordPage(this.store, at, record, { step: (by) => this.step(by) }));
    const place = this.places.indexOf(at);
    this.turn(place < 0 ? this.page : Math.floor(place / ROWS));
    if (scroll) $("records").scrollIntoView();
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
    this.open = this.places[next]; // at once: the next key may come before the new address is followed
    location.hash = `record=${this.store.name(this.open)}`;
  }
}
