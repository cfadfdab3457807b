import type { Config } from '../config.js';

/** `warren config`. */
export function showConfig({ effective }: Config, json: boolean): void {
  if (json) {
    console.log(JSON.stringify(effective, undefined, 2));
    return;
  }
  const width = Math.max(...effective.map(({ name }) => name.length));
  for (const { name, value, source, describe } of effective) {
    console.log(`${name.padEnd(width)}  ${value === '' ? '-' : value}  (${source}) ${describe}`);
  }
}
