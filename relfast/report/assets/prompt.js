// One prompt: question and gold once, all responses as a table of models and samples, and two of them side by side.

const MOST_WORDS = 8000;
const MOST_CHANGES = 1500;

// Splits two texts into parts [text, differs], by the words that are not in their longest common sequence (Myers 1986,
// doi:10.1007/BF01840446). Null for both if they are too long, or differ too much, to be compared quickly.
function differences(left, right) {
  const [a, b] = [left, right].map((text) => text.split(/(\s+)/).filter((word) => word));
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return null;
  const most = Math.min(a.length + b.length, MOST_CHANGES);
  const reach = new Int32Array(2 * most + 3); // by diagonal: how far into ``a`` so many changes lead
  const steps = [];
  let ended = -1;
  for (let n = 0; n <= most && ended < 0; n++) {
    steps.push(reach.slice(most - n, most + n + 3));
    for (let diagonal = -n; diagonal <= n; diagonal += 2) {
      const at = diagonal + most + 1;
      let x = diagonal === -n || (diagonal !== n && reach[at - 1] < reach[at + 1]) ? reach[at + 1] : reach[at - 1] + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      reach[at] = x;
      if (x >= a.length && x - diagonal >= b.length) { ended = n; break; }
    }
  }
  if (ended < 0) return null;
  const common = [new Uint8Array(a.length), new Uint8Array(b.length)];
  let x = a.length;
  let y = b.length;
  for (let n = ended; n >= 0; n--) {
    const before = (diagonal) => steps[n][diagonal + n + 1];
    const diagonal = x - y;
    const down = diagonal === -n || (diagonal !== n && before(diagonal - 1) < before(diagonal + 1));
    const from = n === 0 ? 0 : down ? before(diagonal + 1) : before(diagonal - 1) + 1;
    while (x > from && y > 0) { x--; y--; common[0][x] = common[1][y] = 1; }
    if (n > 0) { if (down) y--; else x--; }
  }
  return [a, b].map((words, side) => {
    const parts = [];
    words.forEach((word, k) => {
      const differs = !common[side][k];
      if (parts.length && parts.at(-1)[1] === differs) parts.at(-1)[0] += word;
      else parts.push([word, differs]);
    });
    return parts;
  });
}

const textIn = (parts) => parts.map(([text]) => text).join("");

// A record as a line of JSON, for people's own scripts.
function lineOf(store, at, record) {
  return JSON.stringify({
    model: store.runs[store.run[at]], task: store.tasks[store.task[at]], id: store.id[at], sample: store.sample[at],
    line: store.line[at], status: store.statuses[store.status[at]],
    correct: store.correct[at] === null ? null : Boolean(store.correct[at]), reward: store.reward[at],
    kind: store.kinds[store.kind[at]], metrics: Object.fromEntries(record.metrics), gold: record.gold,
    question: textIn(record.question), response: textIn(record.response), error: record.error,
  });
}

async function download(store, places, name, told = () => {}) {
  const lines = [];
  for (const at of [...places].sort((a, b) => a - b)) { // in the order of the blocks: each is unpacked once
    lines.push(lineOf(store, at, await store.record(at)));
    if (lines.length % 200 === 0) told(lines.length / places.length);
  }
  const link = make("a", { href: URL.createObjectURL(new Blob([lines.join("\n"), "\n"])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function copyButton(text, label) {
  const button = make("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser does not let this page copy";
    }
  });
  return button;
}

function matrixOf(store, places, browser, pair) {
  const table = make("table", { class: "matrix" });
  const body = make("tbody");
  for (const [run, name] of store.runs.entries()) {
    const own = places.filter((at) => store.run[at] === run).sort((a, b) => store.line[a] - store.line[b] || store.sample[a] - store.sample[b]);
    if (!own.length) continue;
    const cells = own.map((at) => {
      const outcome = store.outcome(at);
      const says = `${name}, sample ${store.sample[at]}: ${OUTCOMES[outcome]}${store.reward[at] === null ? "" : `, reward ${number(store.reward[at])}`}`;
      return make("td", { class: pair.includes(at) ? "chosen" : null },
        make("a", { href: browser.promptAddress(at, [[...pair].reverse().find((one) => one !== at) ?? at, at]), title: says, "aria-label": says },
          make("span", { class: `outcome ${CLASSES[outcome]}` }, SIGNS[outcome]),
          store.reward[at] === null || store.reward[at] === store.correct[at] ? "" : ` ${store.rewarded(at)}`));
    });
    body.append(make("tr", {}, make("th", { scope: "row" }, shown(name)), make("td", {}, shareOf(store, own)), ...cells));
  }
  table.append(body);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Models and samples" }, table);
}

function sideOf(store, at, record, parts, browser) {
  const outcome = store.outcome(at);
  const box = make("pre", { tabindex: "0", "aria-label": `Response of ${store.runs[store.run[at]]}`, dir: "auto" });
  for (const [text, differs] of parts ?? [[textIn(record.response), false]]) {
    box.append(differs ? make("ins", {}, shown(text)) : shown(text));
  }
  return make("div", {},
    make("h4", {}, make("span", { class: `outcome ${CLASSES[outcome]}` }, `${SIGNS[outcome]} `), shown(store.runs[store.run[at]]), ` · sample ${store.sample[at]}`),
    record.why || record.error ? make("p", { class: "why" }, shown(record.why || record.error)) : null,
    record.response.length ? box : make("p", { class: "note" }, "The response is not in the page."),
    make("div", { class: "tools" }, make("a", { href: browser.address(at) }, "Open this record"), copyButton(textIn(record.response), "Copy response")));
}

// Two responses that are worth comparing: a right one and another, else the first two.
function pairOf(store, places) {
  const right = places.find((at) => store.outcome(at) === 0);
  const other = places.find((at) => store.outcome(at) !== 0);
  return right === undefined || other === undefined ? places.slice(0, 2) : [right, other];
}

async function promptPage(store, at, chosen, browser) {
  const places = store.siblings(at);
  const pair = chosen.length ? chosen : pairOf(store, places);
  const records = await Promise.all(pair.map((one) => store.record(one)));
  const asked = records.find((record) => record.question.length) ?? records[0];
  const compared = records.length > 1 ? differences(...records.map((record) => textIn(record.response))) : [null];
  const groups = records.flatMap((record) => record.groups);
  const drawings = records.map((record) => record.groups.filter((group) => group.asked)).find((own) => own.length) ?? groups.slice(0, 1);
  return [
    make("h3", { dir: "auto" }, shown(String(store.id[at]))),
    make("p", { class: "note" }, `${store.tasks[store.task[at]]} · ${shareOf(store, places)} right`),
    toolsOf(browser, null,
      make("a", { href: browser.promptAddress(at, pair) }, "Link to this prompt"),
      make("button", { type: "button", onclick: () => download(store, places, "prompt.jsonl") }, "Download its responses")),
    asked.question.length ? folded("Question", textBox(asked.question, "Question"), textIn(asked.question).length < 3000) : null,
    asked.gold ? folded("Gold", textBox([[asked.gold, ""]], "Gold"), asked.gold.length < 800) : null,
    ...drawings.flatMap((group) => groupOf(group)),
    make("h4", {}, "Models and samples: choose two"),
    matrixOf(store, places, browser, pair),
    compared === null ? make("p", { class: "note" }, "These responses are too long, or differ too much, for their differences to be marked.") : null,
    make("div", { class: "sides" }, ...pair.map((one, k) => sideOf(store, one, records[k], compared === null ? null : compared[k], browser))),
  ].filter((part) => part !== null);
}

// k of n right, over the responses with a score.
function shareOf(store, places) {
  const scored = places.filter((at) => store.correct[at] !== null);
  return scored.length ? `${scored.filter((at) => store.correct[at]).length}/${scored.length}` : "no score";
}
