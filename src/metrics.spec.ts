import { describe, expect, it } from '@jest/globals';
import { Scrape } from '../test/support/prometheus-text.js';
import { Metrics } from './metrics.js';

const scrape = async (metrics: Metrics): Promise<Scrape> => new Scrape(await metrics.text());
const described = (name: string): { name: string; help: string } => ({ name, help: 'For a test.' });

describe('metrics', () => {
  it('are of one application, also when two have the same names', async () => {
    const [one, other] = [new Metrics(), new Metrics()];
    const countOne = one.counter(described('warren_things_total'), 'code', ['a', 'b']);
    other.counter(described('warren_things_total'), 'code', ['a', 'b']);
    countOne('a');
    expect((await scrape(one)).of('warren_things_total')).toEqual({
      'warren_things_total{code="a"}': 1,
      'warren_things_total{code="b"}': 0,
    });
    expect((await scrape(other)).value('warren_things_total{code="a"}')).toBe(0);
  });

  it('are read anew at every scrape, and a label value that is gone leaves no series', async () => {
    const metrics = new Metrics();
    let level = 1;
    const rooms = new Map([['a', 1]]);
    metrics.gauge(described('warren_level'), () => level);
    metrics.gauges(described('warren_rooms'), 'id', () => rooms);
    expect((await scrape(metrics)).value('warren_level')).toBe(1);
    expect((await scrape(metrics)).of('warren_rooms')).toEqual({ 'warren_rooms{id="a"}': 1 });
    level = 0;
    rooms.delete('a');
    rooms.set('b', 2);
    const second = await scrape(metrics);
    expect(second.value('warren_level')).toBe(0);
    expect(second.of('warren_rooms')).toEqual({ 'warren_rooms{id="b"}': 2 });
  });

  it('stay one line each, whatever a label value holds', async () => {
    const metrics = new Metrics();
    metrics.gauges(described('warren_odd'), 'id', () => [['a"} 9\nwarren_forged{x="\\', 1]]);
    const scraped = await scrape(metrics);
    expect(Object.values(scraped.of('warren_odd'))).toEqual([1]);
    expect(scraped.of('warren_forged')).toEqual({});
  });

  it('count a distribution in buckets', async () => {
    const metrics = new Metrics();
    const observe = metrics.histogram(described('warren_wait_seconds'), [0.1, 1]);
    for (const seconds of [0.1, 0.5, 20]) observe(seconds);
    const { series } = await scrape(metrics);
    expect(series.get('warren_wait_seconds_bucket{le="0.1"}')).toBe(1);
    expect(series.get('warren_wait_seconds_bucket{le="1"}')).toBe(2);
    expect(series.get('warren_wait_seconds_bucket{le="+Inf"}')).toBe(3);
    expect(series.get('warren_wait_seconds_count')).toBe(3);
    expect(series.get('warren_wait_seconds_sum')).toBeCloseTo(20.6);
  });
});
