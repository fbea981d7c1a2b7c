// Tables of the page: a click on a header sorts, fields above it choose and filter its rows.

const LONG_TABLE = 20;

function sortKey(cell) {
  const text = cell.textContent.trim();
  const number = Number.parseFloat(text.replace(/[,%]/g, "").replace("−", "-"));
  return cell.classList.contains("words") && !/^[\d.,%−-]+$/.test(text) ? text.toLowerCase() : number;
}

function compare(a, b, down) {
  const missing = (value) => typeof value === "number" && Number.isNaN(value);
  if (missing(a) || missing(b)) return missing(a) - missing(b); // missing values stay last
  const order = typeof a === "string" || typeof b === "string"
    ? String(a).localeCompare(String(b), undefined, { numeric: true }) : a - b;
  return down ? -order : order;
}

function sortable(table) {
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = make("button", { type: "button" }, header.textContent);
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const words = header.classList.contains("words");
      const now = header.getAttribute("aria-sort");
      const down = now === null ? !words : now === "ascending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
      rows.sort((a, b) => compare(a[0], b[0], down));
      body.append(...rows.map(([, row]) => row));
    });
  });
}

function filterable(table) {
  const rows = [...table.tBodies[0].rows];
  const fields = [];
  const column = table.dataset.choose;
  const values = column ? [...new Set(rows.map((row) => row.cells[column].textContent))] : [];
  const choice = make("select", { "aria-label": "Show the rows of" }, make("option", { value: "" }, "all"), ...values.map((value) => make("option", { value }, value)));
  if (values.length > 1) fields.push(choice);
  const field = make("input", { type: "search", placeholder: "filter rows", "aria-label": "Filter the rows of this table" });
  if (rows.length > LONG_TABLE) fields.push(field);
  if (!fields.length) return;
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) || (choice.value !== "" && row.cells[column].textContent !== choice.value);
    }
  };
  for (const one of fields) one.addEventListener("input", apply);
  if (values.length > 1) { // one pair of models at first
    choice.value = values[0];
    apply();
  }
  table.closest(".scroll").before(make("div", { class: "table-filter" }, ...fields));
}

function stackable(table) {
  // on a phone, a row with many columns, or with texts, is shown as a block of named values
  const headers = [...table.tHead.rows[0].cells];
  const names = headers.map((header) => header.textContent);
  const wide = names.length > 3 || table.querySelector(".meter") || headers.filter((one) => one.classList.contains("words")).length > 2;
  table.classList.toggle("wide", Boolean(wide));
  if (wide) for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, column) => { cell.dataset.of = names[column]; });
}

function prepareTables() {
  for (const table of document.querySelectorAll("table.data")) {
    stackable(table);
    sortable(table);
    filterable(table);
  }
}
