// The records of the page: a small index of all, and blocks of texts that are unpacked on demand.

const BLOCKS_KEPT = 12;
const SEARCHED_CHARS = 80e6; // of texts that stay in memory for the next search; more are unpacked for each search
const OUTCOMES = ["right", "wrong", "no answer", "no score"];
const SIGNS = ["✓", "✗", "∅", "!"];
const CLASSES = ["right", "wrong", "silent", "unscored"];

class Store {
  async load() {
    const data = await unpacked("record-index");
    Object.assign(this, data);
    this.length = data.id.length;
    this.blocks = new Map();
    this.lowered = new Map();
    this.room = SEARCHED_CHARS;
    this.places = new Map();
    this.prompts = new Map();
    for (let at = 0; at < this.length; at++) {
      const name = this.name(at);
      if (!this.places.has(name)) this.places.set(name, at);
      const prompt = `${this.task[at]}/${this.id[at]}`;
      const known = this.prompts.get(prompt);
      if (known === undefined) this.prompts.set(prompt, [at]);
      else known.push(at);
    }
    return this;
  }

  // A record's reward; all have the same decimals.
  rewarded(at) {
    this.decimals ??= this.reward.every((value) => Number.isInteger(value ?? 0)) ? 0 : 3;
    return this.reward[at] === null ? "–" : this.reward[at].toFixed(this.decimals);
  }

  // The name of a record in links: run/task/id/sample.
  name(at) {
    return [this.runs[this.run[at]], this.tasks[this.task[at]], this.id[at], this.sample[at]].join("/");
  }

  // Whether another model's outcome for the same sample differs: one is right, the other wrong.
  differs(at) {
    return this.siblings(at).some((other) => this.run[other] !== this.run[at] && this.sample[other] === this.sample[at]
      && this.correct[other] !== null && this.correct[at] !== null && this.correct[other] !== this.correct[at]);
  }

  // A record's kind in words.
  kindOf(at) {
    return this.kinds[this.kind[at]].replaceAll("_", " ");
  }

  outcome(at) {
    if (this.correct[at] === null) return 3;
    if (this.correct[at]) return 0;
    return this.statuses[this.status[at]] === "no_answer" ? 2 : 1;
  }

  siblings(at) {
    return this.prompts.get(`${this.task[at]}/${this.id[at]}`);
  }

  // Whether the record's prompt has several samples, so that sample numbers must be shown.
  severalOf(at) {
    return this.siblings(at).some((other) => this.sample[other] > 0);
  }

  // The records of a block, with what they share.
  async block(number) {
    let found = this.blocks.get(number);
    if (found === undefined) {
      found = unpacked(`block-${number}`).then(({ shared, records }) => {
        for (const record of records) {
          for (const name of ["question", "gold"]) record[name] = shared[record[name]];
          for (const { drawings } of record.groups) for (const one of drawings) one[0] = shared[one[0]];
        }
        return records;
      });
      this.blocks.set(number, found);
      found.catch(() => this.blocks.delete(number));
      if (this.blocks.size > BLOCKS_KEPT) this.blocks.delete(this.blocks.keys().next().value);
    }
    return found;
  }

  async record(at) {
    let number = 0;
    let low = 0;
    let high = this.starts.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= at) { number = middle; low = middle + 1; } else high = middle - 1;
    }
    return (await this.block(number))[at - this.starts[number]];
  }

  // The responses of a block in lower case, as a search compares them.
  async textsOf(number) {
    let texts = this.lowered.get(number);
    if (texts === undefined) {
      texts = (await unpacked(`block-${number}`)).records.map((record) => textIn(record.response).toLowerCase());
      const chars = texts.reduce((sum, text) => sum + text.length, 0);
      if (chars < this.room) {
        this.room -= chars;
        this.lowered.set(number, texts);
      }
    }
    return texts;
  }

  // Unpacks the texts for searches ahead of the first one.
  async readAll() {
    if (this.reading) return;
    this.reading = true;
    for (let number = 0; number < this.starts.length && this.room > 0; number++) await this.textsOf(number);
  }

  // Finds the records whose responses contain a text, block by block.
  async within(wanted, places, told, stopped) {
    const found = new Set();
    const needle = wanted.toLowerCase();
    const asked = new Set(places);
    for (let number = 0; number < this.starts.length; number++) {
      if (stopped()) return null;
      const first = this.starts[number];
      const end = number + 1 < this.starts.length ? this.starts[number + 1] : this.length;
      let any = false;
      for (let at = first; at < end && !any; at++) any = asked.has(at);
      if (!any) continue;
      (await this.textsOf(number)).forEach((text, k) => {
        if (asked.has(first + k) && text.includes(needle)) found.add(first + k);
      });
      told((number + 1) / this.starts.length, found.size);
    }
    return found;
  }
}
