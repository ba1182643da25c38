// News from the exporter: first the last minutes, then an event every second, and the same again whenever the connection
// was lost. Says at any time whether what is shown is of now: an event says how old it was when it was sent, since the
// first one on a connection is the latest that there is, of any age.

const AGAIN_MS = 2000;
// Events come every second; a driver call that hangs holds them up.
const OLD_MS = 5000;
// A connection on which nothing comes for so long may be dead without a word.
const DEAD_MS = 15000;

export class Live {
  /// `onState`: {name: "connecting" | "live" | "old" | "lost" | "locked" | "full" | "paused", since: Date of what is shown or null}.
  constructor({ onHistory, onNode, onRuns, onState }) {
    Object.assign(this, { onHistory, onNode, onRuns, onState });
    this.source = null;
    this.last = null;
    this.heard = 0;
    this.name = null;
    this.timer = null;
    setInterval(() => this.watch(), 1000);
    // A page that nobody looks at asks for nothing.
    document.addEventListener("visibilitychange", () => (document.hidden ? this.pause() : this.start()));
    this.start();
  }

  say(name) {
    if (this.name === name) return;
    this.name = name;
    this.onState({ name, since: this.last });
  }

  close() {
    this.source?.close();
    this.source = null;
    clearTimeout(this.timer);
  }

  pause() {
    this.close();
    this.say("paused");
  }

  again(name) {
    this.close();
    this.say(name);
    this.timer = setTimeout(() => this.start(), AGAIN_MS);
  }

  async start() {
    this.close();
    if (this.name === null || this.name === "paused") this.say("connecting");
    const asking = new AbortController();
    this.timer = setTimeout(() => asking.abort(), DEAD_MS);
    try {
      const answer = await fetch("/api/history", { signal: asking.signal });
      if (answer.status === 401) return this.again("locked");
      if (!answer.ok) return this.again("lost");
      this.onHistory(await answer.json());
    } catch {
      return this.again("lost");
    }
    if (document.hidden) return this.pause();
    this.close();
    const source = this.source = new EventSource("/events");
    this.heard = Date.now();
    source.addEventListener("node", (event) => {
      const node = JSON.parse(event.data);
      this.heard = Date.now();
      this.last = new Date(this.heard - 1000 * node.age_s);
      this.say(this.isOld() ? "old" : "live");
      this.onNode(node);
    });
    source.addEventListener("runs", () => this.onRuns());
    source.onerror = () => {
      if (source !== this.source) return;
      // An answer that is no stream is a refusal: too many pages are open.
      this.again(source.readyState === EventSource.CLOSED && this.name !== "live" ? "full" : "lost");
    };
  }

  isOld() {
    return Date.now() - this.last > OLD_MS;
  }

  watch() {
    if (!this.source) return;
    if (this.name === "live" && this.isOld()) this.say("old");
    if (Date.now() - this.heard > DEAD_MS) this.start();
  }
}
