// News from the exporter: first the last minutes, then an event every second, and the same again whenever the connection
// was lost. Says at any time whether what is shown is of now.

const AGAIN_MS = 2000;
// Events come every second; a driver call that hangs holds them up.
const OLD_MS = 5000;
const DEAD_MS = 15000;

export class Live {
  /// `onState`: {name: "connecting" | "live" | "old" | "lost" | "locked" | "full" | "paused", since: Date of the last news or null}.
  constructor({ onHistory, onNode, onRuns, onState }) {
    Object.assign(this, { onHistory, onNode, onRuns, onState });
    this.source = null;
    this.last = null;
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
    try {
      const answer = await fetch("/api/history");
      if (answer.status === 401) return this.again("locked");
      if (!answer.ok) return this.again("lost");
      this.onHistory(await answer.json());
    } catch {
      return this.again("lost");
    }
    if (document.hidden) return this.pause();
    this.close();
    const source = this.source = new EventSource("/events");
    source.addEventListener("node", (event) => {
      this.last = new Date();
      this.say("live");
      this.onNode(JSON.parse(event.data));
    });
    source.addEventListener("runs", () => this.onRuns());
    source.onerror = () => {
      if (source !== this.source) return;
      // An answer that is no stream is a refusal: too many pages are open.
      this.again(source.readyState === EventSource.CLOSED && this.name !== "live" ? "full" : "lost");
    };
  }

  watch() {
    if (!this.source || !this.last) return;
    const age = Date.now() - this.last;
    if (age > DEAD_MS) this.again("lost");
    else if (age > OLD_MS && this.name === "live") this.say("old");
  }
}
