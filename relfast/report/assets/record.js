// One record: question, response with the marked answer, gold, metrics, and why the response is wrong.

function section(title, ...children) {
  return [make("h4", {}, title), ...children];
}

function textBox(parts, label) {
  const box = make("pre", { tabindex: "0", "aria-label": label, dir: "auto" });
  for (const [text, kind] of parts) {
    if (kind === "") box.append(shown(text));
    else if (kind === "cut") box.append(make("span", { class: "cut" }, text));
    else box.append(make("mark", { title: kind }, shown(text)));
  }
  return box;
}

function folded(title, box, open) {
  const details = make("details", open ? { open: "" } : {}, make("summary", {}, title));
  details.append(box);
  return details;
}

function number(value) {
  if (value === null) return "–";
  if (typeof value !== "number") return typeof value === "object" ? JSON.stringify(value) : String(value);
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

function counted(value) {
  return value === null ? "–" : value.toLocaleString("en");
}

function metricsOf(record) {
  const list = make("dl", { class: "metrics" });
  for (const [name, value] of record.metrics) {
    list.append(make("div", {}, make("dt", {}, name), make("dd", {}, shown(number(value)))));
  }
  return list;
}

function groupOf(group) {
  const box = make("div", { class: `drawings${group.wide ? " wide" : group.large ? " two" : ""}` });
  for (const [svg, caption, kind] of group.drawings) {
    const what = make("figcaption", { dir: "auto" }, shown(caption));
    if (group.wide) box.append(drawing(svg, caption), what);
    else box.append(make("figure", { class: kind, title: caption }, svg ? drawing(svg, caption) : "not drawn", what));
  }
  const parts = [group.note ? make("p", { class: "note" }, shown(group.note)) : null, box,
    group.rest ? folded("More, not drawn", make("p", { class: "note" }, shown(group.rest)), false) : null].filter((part) => part !== null);
  return group.folded ? [folded(group.title, make("div", {}, ...parts), false)] : [make("h4", {}, group.title), ...parts];
}

function listingOf(listing) {
  const table = make("table", { class: "listing" });
  if (listing.header.some((name) => name)) {
    table.append(make("thead", {}, make("tr", {}, ...listing.header.map((name) => make(name ? "th" : "td", name ? { scope: "col" } : {}, name)))));
  }
  const body = make("tbody");
  for (const row of listing.rows) body.append(make("tr", {}, ...row.map((cell) => make("td", { dir: "auto" }, shown(cell)))));
  table.append(body);
  return folded(listing.title, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": listing.title }, table), listing.rows.length <= 20);
}

const MOST_OTHERS = 200;

// The other responses to a record's prompt: each model with a sign for each sample, which leads to it.
function othersOf(store, at, browser) {
  const others = store.siblings(at).filter((other) => other !== at)
    .sort((a, b) => store.run[a] - store.run[b] || store.line[a] - store.line[b] || store.sample[a] - store.sample[b]);
  if (!others.length) return null;
  const line = make("p", { class: "note others" }, "Same prompt:");
  let before = null;
  for (const other of others.slice(0, MOST_OTHERS)) {
    const run = store.run[other];
    if (run !== before) line.append(" ", make("span", {}, store.runs.length > 1 ? shown(store.runs[run]) : ""), " ");
    before = run;
    const outcome = store.outcome(other);
    const says = `${store.runs[run]}, line ${store.line[other] + 1}, sample ${store.sample[other]}: ${OUTCOMES[outcome]}`;
    line.append(make("a", { href: browser.address(other), class: `outcome ${CLASSES[outcome]}`, title: says, "aria-label": says }, SIGNS[outcome]), " ");
  }
  if (others.length > MOST_OTHERS) line.append(` and ${others.length - MOST_OTHERS} more`);
  return line;
}

// The ways from a record or prompt to the list and to its neighbours, and what else it offers.
function toolsOf(browser, back, ...more) {
  return make("div", { class: "tools" },
    make("a", { href: browser.address(null), class: back }, "← List"),
    make("button", { type: "button", onclick: () => browser.step(-1) }, "Previous (k)"),
    make("button", { type: "button", onclick: () => browser.step(1) }, "Next (j)"), ...more);
}

function recordPage(store, at, record, browser) {
  const outcome = store.outcome(at);
  const task = store.tasks[store.task[at]];
  const parts = [
    make("h3", { dir: "auto" }, make("span", { class: `outcome ${CLASSES[outcome]}` }, `${SIGNS[outcome]} `), shown(String(store.id[at]))),
    make("p", { class: "note" }, `${task} · ${store.runs[store.run[at]]} · line ${store.line[at] + 1}, sample ${store.sample[at]} · `,
      OUTCOMES[outcome] === "no score" ? `no score (${store.statuses[store.status[at]]})` : OUTCOMES[outcome], store.reward[at] === null ? "" : ` · reward ${number(store.reward[at])}`,
      store.kindOf(at) === "right" ? "" : ` · ${store.kindOf(at)}`,
      store.length_of[at] === null ? "" : ` · ${counted(store.length_of[at])} characters`, store.tokens[at] === null ? "" : ` · ${counted(store.tokens[at])} tokens`),
    toolsOf(browser, "way-back",
      make("a", { href: browser.address(at) }, "Link to this record"),
      make("a", { href: browser.promptAddress(at) }, "This prompt"),
      copyButton(textIn(record.response), "Copy response")),
    othersOf(store, at, browser),
    record.why ? make("p", { class: "why" }, shown(record.why)) : null,
    record.error ? make("p", { class: "why" }, shown(record.error)) : null,
  ];
  if (record.metrics.length) parts.push(...section("Metrics", metricsOf(record)));
  if (record.response.length) parts.push(...section("Response", textBox(record.response, "Response")));
  for (const group of record.groups) parts.push(...groupOf(group));
  for (const listing of record.listings) parts.push(listingOf(listing));
  const drawn = record.groups.length + record.listings.length > 0; // then gold is in what is shown above
  if (record.gold) parts.push(folded("Gold", textBox([[record.gold, ""]], "Gold"), !drawn && record.gold.length < 1500));
  if (record.question.length) parts.push(folded("Question", textBox(record.question, "Question"), false));
  return parts.filter((part) => part !== null);
}
