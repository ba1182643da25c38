// The stretch of time that every chart of a page shows, and who is told when it moves.

export class View {
  constructor(from, to, least = 1e-3) {
    this.whole = [from, Math.max(to, from + least)];
    [this.from, this.to] = this.whole;
    this.least = least;
    this.listeners = [];
  }

  on(listener) { this.listeners.push(listener); }

  set(from, to) {
    const [begin, end] = this.whole;
    const length = Math.min(Math.max(to - from, this.least), end - begin);
    const middle = (from + to) / 2;
    const start = Math.min(Math.max(middle - length / 2, begin), end - length);
    if (start === this.from && start + length === this.to) return;
    this.from = start;
    this.to = start + length;
    for (const listener of this.listeners) listener();
  }

  reset() { this.set(...this.whole); }
  /// `factor` below 1 looks closer; `around` stays where it is.
  zoom(factor, around = (this.from + this.to) / 2) {
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }
  pan(share) {
    const by = share * (this.to - this.from);
    this.set(this.from + by, this.to + by);
  }

  /// Arrows move, + and - zoom, Home shows everything; true where the key meant something.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const fast = event.shiftKey ? 0.9 : 0.2;
    const action = {
      ArrowLeft: () => this.pan(-fast), ArrowRight: () => this.pan(fast),
      ArrowUp: () => this.zoom(0.5), ArrowDown: () => this.zoom(2),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      Home: () => this.reset(), 0: () => this.reset(),
    }[event.key];
    action?.();
    return action !== undefined;
  }
}
