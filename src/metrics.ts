import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Name and explanation of a metric, as a scraper sees them. */
export interface MetricDescription {
  /** `warren_…`, with its unit, in the style of Prometheus. */
  name: string;
  help: string;
}

/**
 * What this application measures, beside the memory, descriptors and event loop of its process. Rooms register what they
 * know here. Each application has its own registry. Label values come from closed lists, or are ids of which a setting
 * bounds the number: never text of a provider, an agent or an operator.
 */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** A value that goes up and down; `read` is asked at every scrape. */
  gauge(description: MetricDescription, read: () => number): void {
    const gauge: Gauge = new Gauge({
      ...description,
      registers: [this.registry],
      collect: () => gauge.set(read()),
    });
  }

  /** The same with one label: `read` gives each of its values with its number, and no value once it is gone. */
  gauges(description: MetricDescription, label: string, read: () => Iterable<readonly [string, number]>): void {
    const gauge: Gauge = new Gauge({
      ...description,
      labelNames: [label],
      registers: [this.registry],
      collect: () => {
        gauge.reset();
        for (const [value, number] of read()) gauge.set({ [label]: value }, number);
      },
    });
  }

  /** Counts by one label, whose values are all known now and start at 0. Returns what counts one. */
  counter<Value extends string>(
    description: MetricDescription,
    label: string,
    values: readonly Value[],
  ): (value: Value) => void {
    const counter = new Counter({ ...description, labelNames: [label], registers: [this.registry] });
    for (const value of values) counter.inc({ [label]: value }, 0);
    return (value) => counter.inc({ [label]: value });
  }

  /** A distribution over ascending buckets, in the unit that the name says. Returns what adds one observation. */
  histogram(description: MetricDescription, buckets: readonly number[]): (value: number) => void {
    const histogram = new Histogram({ ...description, buckets: [...buckets], registers: [this.registry] });
    return (value) => histogram.observe(value);
  }

  /** Everything, in the text format of Prometheus, version 0.0.4. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
