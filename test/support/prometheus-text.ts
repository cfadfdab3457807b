/** What `/metrics` said, read strictly: a line that the text format does not know is an error. */
export class Scrape {
  /** By the series as written, labels included. */
  readonly series = new Map<string, number>();
  private readonly types = new Map<string, string>();

  constructor(readonly text: string) {
    if (!text.endsWith('\n')) throw new Error('the last line has no end');
    for (const line of text.slice(0, -1).split('\n')) this.readLine(line);
  }

  /** The value of one series. Errors: when there is none. */
  value(series: string): number {
    const found = this.series.get(series);
    if (found === undefined) throw new Error(`no series ${series}`);
    return found;
  }

  /** The series of one metric with their values. */
  of(name: string): Record<string, number> {
    return Object.fromEntries([...this.series].filter(([series]) => series.split('{', 1)[0] === name));
  }

  /** Every pair of label and value. */
  labels(): string[] {
    return [...this.series.keys()].flatMap((series) => /\{(.*)\}/.exec(series)?.[1]?.split(/(?<="),/) ?? []);
  }

  private readLine(line: string): void {
    if (line === '' || line.startsWith('# HELP ')) return;
    const [, declared, type] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (declared !== undefined && type !== undefined) {
      if (this.types.has(declared)) throw new Error(`declared twice: ${declared}`);
      this.types.set(declared, type);
      return;
    }
    const label = String.raw`[a-z_]+="(?:[^"\\]|\\[\\"n])*"`;
    const sample = new RegExp(`^((\\w+)(?:\\{${label}(?:,${label})*\\})?) (\\S+)$`).exec(line);
    const [, series, name = '', value] = sample ?? [];
    if (series === undefined || !/^[+-]?(\d+(\.\d+)?(e[+-]?\d+)?|Inf)$|^Nan$/.test(value ?? '')) {
      throw new Error(`not a line of the format: ${line}`);
    }
    const family = name.replace(/_(bucket|sum|count)$/, '');
    if (!this.types.has(name) && this.types.get(family) !== 'histogram') throw new Error(`not declared: ${line}`);
    if (this.series.has(series)) throw new Error(`twice: ${series}`);
    this.series.set(series, Number(value));
  }
}
