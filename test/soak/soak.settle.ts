import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { eventually } from '../support/eventually.js';
import type { Figures } from './soak.figures.js';
import { CONNECTIONS, type House } from './soak.house.js';
import { mostOtherHandles, otherHandles } from './soak.verdict.js';

/** Sessions end, and idle sockets to providers are closed, within this, milliseconds. */
const QUIET_WITHIN_MS = 30_000;

/**
 * The figures when no session is open and nothing goes on: no more than `before`, if given, or the last ones seen when that
 * does not come.
 */
export async function settledFigures(house: House, before?: Figures): Promise<Figures> {
  for (const id of CONNECTIONS.filter((name) => !name.endsWith('-once'))) {
    await house.api.expect(200, 'POST', `/api/connections/${id}/stop`);
  }
  // this process's own idle connections to Warren, which would stay for a minute
  await getGlobalDispatcher().close();
  setGlobalDispatcher(new Agent());
  let figures = await house.figures.read();
  const quiet = eventually(async () => {
    const earlier = figures;
    figures = await house.figures.read();
    const most = before ?? earlier;
    if (
      figures.children > 0 ||
      figures.descriptors > most.descriptors ||
      otherHandles(figures) > mostOtherHandles(most)
    ) {
      throw new Error('not yet quiet');
    }
  }, QUIET_WITHIN_MS);
  await quiet.catch(() => undefined);
  return figures;
}
